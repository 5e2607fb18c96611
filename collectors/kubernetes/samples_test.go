package kubernetes

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// A step of the wall clock does not change how long a watch is silent.
func TestLastContactFollowsTheClock(t *testing.T) {
	contact := time.Now()
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		now := collectortest.StepClock(t, contact.Add(7*time.Second), by)
		var b collectors.Batch
		addWatch(&b, "kubernetes", &watch{resource: "pods", state: watchState{tried: true, contact: contact}}, now)
		found := false
		for _, s := range b.Samples {
			if s.Labels.Get(model.MetricNameLabel) == watchLastContactMetric.Desc().Name {
				found = true
				if age := collectors.EpochSeconds(now) - s.Value; math.Abs(age-7) > 0.001 {
					t.Errorf("after a step by %s the watch is silent for %g s, want 7", by, age)
				}
			}
		}
		if !found {
			t.Errorf("there is no sample of %s", watchLastContactMetric.Desc().Name)
		}
	}
}
