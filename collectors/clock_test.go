package collectors_test

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestOnClock(t *testing.T) {
	then := time.Now()
	now := then.Add(5 * time.Second)
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		stepped := collectortest.StepClock(t, now, by)
		if got, want := collectors.OnClock(stepped, then).Round(0), then.Round(0).Add(by); got != want {
			t.Errorf("OnClock() after a step by %s = %s, want %s", by, got, want)
		}
	}
	if got := collectors.OnClock(now, time.Time{}); !got.IsZero() {
		t.Errorf("OnClock() of the zero time = %s, want the zero time", got)
	}
}
