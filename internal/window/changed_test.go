package window_test

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/window"
)

func TestChanged(t *testing.T) {
	other := labels.FromStrings("__name__", "other")
	for _, history := range []time.Duration{0, time.Minute} {
		w := window.New()
		w.SetRetention(nil, history)
		a, b := w.Source(), w.Source()
		last := w.Changed([]string{"up", "down"})
		for i, step := range []struct {
			name string
			do   func(at int64)
			want bool
		}{
			{"nothing", func(int64) {}, false},
			{"the first series", func(at int64) { write(t, a, at, 1, "x") }, true},
			{"the same value", func(at int64) { write(t, a, at, 1, "x") }, false},
			{"another value", func(at int64) { write(t, a, at, 0, "x") }, true},
			{"another series", func(at int64) { write(t, a, at, 0, "x", "y") }, true},
			{"a series less", func(at int64) { write(t, a, at, 0, "x") }, true},
			{"the same of another source", func(at int64) { write(t, b, at, 0, "x") }, false},
			{"another value of that source", func(at int64) { write(t, b, at, 1, "x") }, true},
			{"the value of the first again", func(at int64) { write(t, a, at, 0, "x") }, true},
			{"a source that stops while the other goes on", func(at int64) { b.Stale(at) }, false},
			{"another metric", func(at int64) {
				b.Begin(at)
				if err := b.Add(other, float64(at), 0); err != nil {
					t.Fatal(err)
				}
				b.End()
			}, false},
			{"the last series ends", func(at int64) { a.Stale(at) }, true},
			{"it comes again", func(at int64) { write(t, a, at, 0, "x") }, true},
		} {
			step.do(int64(i+1) * 1000)
			now := w.Changed([]string{"up", "down"})
			if got := now != last; got != step.want {
				t.Errorf("with %s of history: %s: changed = %t, want %t", history, step.name, got, step.want)
			}
			last = now
		}
	}
}
