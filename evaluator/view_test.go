package evaluator

import (
	"context"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator/internal/workers"
)

// When the clock steps, the window is shifted, and with it the time of the last evaluation.
func TestViewAfterAClockStep(t *testing.T) {
	cfg, source := oneSource(t)
	c, err := newCore(cfg, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	c.take(workers.Result{Collector: source, Samples: upSamples(0)}, epoch)
	c.evaluate(context.Background(), epoch.Add(time.Second))
	v := &View{c, c.snapshot(context.Background(), epoch.Add(time.Second), 0)}
	c.shift(time.Hour)
	if want := epoch.Add(time.Hour + time.Second); !v.At().Equal(want) {
		t.Errorf("At() = %s, want %s", v.At(), want)
	}
	got, ok := v.SampleTime(upSamples(0)[0].Labels, v.At())
	if want := epoch.Add(time.Hour); !ok || !got.Equal(want) {
		t.Errorf("SampleTime() = %s, %t, want %s", got, ok, want)
	}
}
