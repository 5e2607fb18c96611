package window_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/window"
)

const mebibyte = 1 << 20

// churn writes a batch of series that no batch had before. It aborts the batch at an error.
func churn(s *window.Source, at int64, series int) error {
	s.Begin(at)
	for i := range series {
		if err := s.Add(labels.FromStrings("__name__", "up", "id", fmt.Sprint(at, "-", i)), 1, 0); err != nil {
			s.Abort()
			return err
		}
	}
	s.End()
	return nil
}

// A source without end gets at most half of the memory. What it wrote in the batch that
// fails is gone, all others go on, and it recovers once its history has expired.
func TestMemoryOfSeries(t *testing.T) {
	memory := budget.New(mebibyte)
	w := window.NewWithin(memory)
	w.SetRetention(nil, time.Minute)
	hog, steady := w.Owner(), w.Owner()
	failures := 0
	at := int64(0)
	for range 100 {
		at += 1000
		write(t, steady, at, 1, "x", "y")
		if err := churn(hog, at, 500); err != nil {
			if failures++; !errors.Is(err, budget.ErrExceeded) {
				t.Fatalf("Add() = %v, want budget.ErrExceeded", err)
			}
		}
		if hog.Bytes() > mebibyte/2 || memory.Used() != hog.Bytes()+steady.Bytes() {
			t.Fatalf("%d bytes of one source and %d of the other, %d in total, want at most half of 1 MiB", hog.Bytes(), steady.Bytes(), memory.Used())
		}
	}
	if failures < 50 {
		t.Errorf("%d of 100 batches failed, want most of them", failures)
	}
	before := w.Len()
	if err := churn(hog, at+500, 5000); err == nil || w.Len() > before {
		t.Errorf("a batch that fails = %v, %d series after it and %d before, want none of it", err, w.Len(), before)
	}
	for range 120 {
		at += 1000
		write(t, steady, at, 1, "x", "y")
		hog.Begin(at)
		hog.End()
	}
	if err := churn(hog, at+500, 500); err != nil {
		t.Errorf("after the history: %v, want a success", err)
	}
}

// History counts as well, and what a shorter retention releases.
func TestMemoryOfHistory(t *testing.T) {
	memory := budget.New(mebibyte)
	w := window.NewWithin(memory)
	w.SetRetention(nil, time.Hour)
	s := w.Owner()
	var err error
	at := int64(0)
	for range 10_000 {
		at += 10
		s.Begin(at)
		for i := range 10 {
			if err = s.Add(up(fmt.Sprint(i)), 1, 0); err != nil {
				break
			}
		}
		if err != nil {
			s.Abort()
			break
		}
		s.End()
	}
	if !errors.Is(err, budget.ErrExceeded) || at < 10_000 {
		t.Fatalf("Add() after %d batches = %v, want budget.ErrExceeded after more than 1,000", at/10, err)
	}
	w.SetRetention(nil, time.Second)
	s.Begin(at + 10)
	if err := s.Add(up("0"), 1, 0); err != nil {
		t.Errorf("Add() with a shorter retention = %v, want a success", err)
	}
	s.End()
	if used := memory.Used(); used > 100_000 {
		t.Errorf("%d bytes with a shorter retention, want less", used)
	}
	s.Close(at + 20)
	w.SetRetention(nil, 0)
	write(t, w.Source(), at+1_000_000, 1)
	if used := memory.Used(); used != 0 || w.Len() != 0 {
		t.Errorf("%d bytes of %d series are left, want none", used, w.Len())
	}
}

// Random batches, sources and retentions: the account is the sum of all series.
func TestMemoryIsExact(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		memory := budget.New(40_000)
		w := window.NewWithin(memory)
		sources := []*window.Source{w.Owner(), w.Owner(), w.Source()}
		at := int64(1_000_000)
		for range 500 {
			at += random.Int64N(5000)
			if random.IntN(20) == 0 {
				w.SetRetention(nil, time.Duration(random.IntN(3))*20*time.Second)
			}
			i := random.IntN(len(sources))
			s := sources[i]
			switch random.IntN(20) {
			case 0:
				s.Stale(at)
				continue
			case 1:
				sources[i] = s.Successor()
				defer s.Close(at)
				s = sources[i]
			}
			s.Begin(at)
			var err error
			for range random.IntN(20) {
				explicit := int64(0)
				if random.IntN(5) == 0 {
					explicit = at - random.Int64N(30_000)
				}
				if err = s.Add(up(fmt.Sprint(random.IntN(60))), 1, explicit); errors.Is(err, budget.ErrExceeded) {
					break
				}
			}
			if errors.Is(err, budget.ErrExceeded) {
				s.Abort()
			} else {
				s.End()
			}
			if used, want := memory.Used(), window.Bytes(w); used != want || used > 45_000 {
				t.Fatalf("seed %d: %d bytes are counted, want %d", seed, used, want)
			}
		}
	}
}

// BenchmarkSeries measures a series of five labels, as it is counted and as the heap has it.
func BenchmarkSeries(b *testing.B) {
	for _, history := range []int{0, 60} {
		b.Run(fmt.Sprintf("history=%d", history), func(b *testing.B) {
			const series = 20_000
			var counted, taken int64
			for range b.N {
				memory := budget.New(1 << 30)
				before := int64(heap())
				w := window.NewWithin(memory)
				w.SetRetention(nil, time.Duration(history)*time.Second)
				s := w.Owner()
				all := make([]labels.Labels, series)
				for i := range all {
					all[i] = labels.FromStrings("__name__", "http_requests_total", "component", "controller", "instance", fmt.Sprint("node-", i), "method", "GET", "status", "200")
				}
				for at := range int64(max(2, history)) {
					s.Begin(at * 1000)
					for _, l := range all {
						if err := s.Add(l, 1, 0); err != nil {
							b.Fatal(err)
						}
					}
					s.End()
				}
				all = nil
				counted, taken = memory.Used()/series, (int64(heap())-before)/series
				runtime.KeepAlive(s)
			}
			b.ReportMetric(float64(taken), "heap-B/series")
			b.ReportMetric(float64(counted), "counted-B/series")
			b.ReportMetric(float64(taken)/float64(counted), "heap/counted")
		})
	}
}
