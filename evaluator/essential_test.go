package evaluator

import (
	"context"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/internal/budget"
)

// A flood of series beside the essential ones of the same collector fails the collection, and
// the rules of the essential ones go on.
func TestEssentialSamplesKeepTheirRoom(t *testing.T) {
	const limit = 1 << 20
	flooded := &fakeCollector{"flooded"}
	c, err := newCore(Config{Files: parseRules(t, explosionRules), Sources: []Source{
		{Name: "flooded", Interval: time.Second, Timeout: time.Second, Collector: flooded},
	}}, Options{Memory: budget.New(limit)}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for n := range 300 {
		at := epoch.Add(time.Duration(n) * time.Second)
		samples := upSamples(1)
		essential := len(samples)
		samples = append(samples, explosion(0, min(20*n, 4000))...)
		if n > 250 { // the flood ends
			samples = samples[:essential]
		}
		c.take(workers.Result{Collector: flooded, Samples: samples, Essential: essential}, at)
		c.evaluate(context.Background(), at)
		s := c.snapshot(context.Background(), at, 0)
		if s.Rules[0].Status != OK || s.Rules[1].Status != OK {
			t.Fatalf("after %d s: rules %s and %s, want ok", n, s.Rules[0].Status, s.Rules[1].Status)
		}
		if s.Memory.Bytes > limit {
			t.Fatalf("after %d s: %d bytes, want at most %d", n, s.Memory.Bytes, limit)
		}
		if s.Collectors[0].Refused {
			refused++
		}
		if n > 280 && !s.Collectors[0].Success {
			t.Fatalf("after %d s: %q, want a success after the flood", n, s.Collectors[0].Error)
		}
	}
	if refused < 100 {
		t.Errorf("%d collections were refused, want the flood to be", refused)
	}
}

// A failing essential series fails its rule during the flood.
func TestEssentialSamplesDecide(t *testing.T) {
	flooded := &fakeCollector{"flooded"}
	c, err := newCore(Config{Files: parseRules(t, explosionRules), Sources: []Source{
		{Name: "flooded", Interval: time.Second, Timeout: time.Second, Collector: flooded},
	}}, Options{Memory: budget.New(256 << 10)}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	for n, up := range []float64{1, 1, 0} {
		at := epoch.Add(time.Duration(n) * time.Second)
		samples := upSamples(up)
		samples = append(samples, explosion(0, 2000)...)
		c.take(workers.Result{Collector: flooded, Samples: samples, Essential: 1}, at)
		c.evaluate(context.Background(), at)
		s := c.snapshot(context.Background(), at, 0)
		if failing := s.Rules[0].Status == Failing; failing != (up == 0) || !s.Collectors[0].Refused {
			t.Errorf("after %d s with up %g: Down is %s, refused %t", n, up, s.Rules[0].Status, s.Collectors[0].Refused)
		}
	}
}
