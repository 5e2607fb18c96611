package components

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// A step of the wall clock does not change the age of a report or of a failure.
func TestTimesFollowTheClock(t *testing.T) {
	cfg := Config{Expect: []string{"server"}}
	cfg.SetDefaults()
	made, err := cfg.New(collectors.Env{Name: "components", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c := made.(*Collector)
	reported := time.Now()
	if err := c.report(reported, "server", collectors.Report{Alive: new(true)}); err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		now := collectortest.StepClock(t, reported.Add(3*time.Second), by)
		if age := now.Round(0).Sub(c.status(now)[0].LastReport.Round(0)); age != 3*time.Second {
			t.Errorf("after a step by %s the status has a report of %s ago, want 3s", by, age)
		}
		samples, err := c.collect(now)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples {
			if s.Labels.Get(model.MetricNameLabel) != lastReportMetric.Desc().Name {
				continue
			}
			if age := collectors.EpochSeconds(now) - s.Value; math.Abs(age-3) > 0.001 {
				t.Errorf("after a step by %s the last report is %g s old, want 3", by, age)
			}
		}
	}
}
