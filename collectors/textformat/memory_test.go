package textformat

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/budget"
)

// The page of the kind scrape has the memory of a series: here its text, its labels and its sample.
func TestMemoryOfASeries(t *testing.T) {
	const series, limit = 2000, 512
	body := []byte(bodyOf(series))
	p := newParser(t)
	p.SampleLimit, p.Memory = series, budget.New(64<<20).Account()
	before := heap()
	got, err := p.Parse(t.Context(), body, ContentType, time.Now())
	if err != nil || len(got.Samples) != series {
		t.Fatalf("Parse() = %d samples, %v, want %d", len(got.Samples), err, series)
	}
	each := (heap() - before) / series
	counted := p.Memory.Used() / series
	t.Logf("%d bytes a series, counted as %d", each, counted)
	if counted < each*3/4 || counted > 2*each {
		t.Errorf("%d bytes a series are counted as %d, want about as many", each, counted)
	}
	if each > limit {
		t.Errorf("%d bytes a series, want at most %d", each, limit)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(got)
}

// A text whose series do not fit fails, and what its parser holds is the sum of what it caches.
// Without the series, the memory is free again.
func TestSeriesBeyondTheMemory(t *testing.T) {
	memory := budget.New(1 << 20)
	p := newParser(t)
	p.SampleLimit, p.Memory = 100_000, memory.Account()
	if _, err := p.Parse(t.Context(), []byte(bodyOf(10_000)), ContentType, time.Now()); !errors.Is(err, budget.ErrExceeded) {
		t.Errorf("Parse() = %v, want ErrExceeded", err)
	}
	if used := memory.Used(); used > 1<<19 {
		t.Errorf("%d bytes are held, want at most half of 1 MiB", used)
	}
	for range cacheTexts + 1 {
		if _, err := p.Parse(t.Context(), []byte("a 1\n"), ContentType, time.Now()); err != nil {
			t.Errorf("Parse() of a small answer = %v", err)
		}
	}
	if used := memory.Used(); used > 8<<10 {
		t.Errorf("%d bytes are held for one series, want at most 8 KiB", used)
	}
	p.Close()
	if used := memory.Used(); used != 0 {
		t.Errorf("%d bytes are held after Close(), want none", used)
	}
}

// heap returns the size of all live objects in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
