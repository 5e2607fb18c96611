package scrape

import (
	"runtime"
	"testing"
	"time"
)

// The page of the kind has the memory of a series: here its text, its labels and its sample.
func TestMemoryOfASeries(t *testing.T) {
	const series, limit = 2000, 512
	body := []byte(bodyOf(series))
	p := newParser(t)
	p.sampleLimit = series
	before := heap()
	got, err := p.parse(t.Context(), body, textType, time.Now())
	if err != nil || len(got.samples) != series {
		t.Fatalf("parse() = %d samples, %v, want %d", len(got.samples), err, series)
	}
	each := (heap() - before) / series
	t.Logf("%d bytes a series", each)
	if each > limit {
		t.Errorf("%d bytes a series, want at most %d", each, limit)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(got)
}

// heap returns the size of all live objects in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
