package evaluator

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
)

// count evaluates a query of one value; nothing is 0.
func count(t *testing.T, c *core, expr string, at time.Time) float64 {
	t.Helper()
	v, err := c.query.instant(context.Background(), expr, at)
	if err != nil {
		t.Fatalf("instant(%s) = %v, want no error", expr, err)
	}
	if len(v) == 0 {
		return 0
	}
	return v[0].F
}

// TestSlowCollectorCostsNoHistory is about a collector whose values count for longer
// than five minutes: that is no reason to keep the past of all series.
func TestSlowCollectorCostsNoHistory(t *testing.T) {
	slow := &fakeCollector{"slow"}
	cfg := Config{Sources: []Source{{Name: "slow", Interval: 10 * time.Minute, Timeout: time.Second, Collector: slow}}}
	c, err := newCore(cfg, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	exported := labels.FromStrings(model.MetricNameLabel, "exported")
	stamped := collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "stamped"), T: epoch.UnixMilli()}
	c.take(result{collector: slow, samples: []collectors.Sample{{Labels: exported}, stamped}}, epoch)
	var at time.Time
	for s := time.Duration(0); s < 29*time.Minute; s += 10 * time.Second {
		at = epoch.Add(s)
		c.evaluate(context.Background(), at)
		c.snapshot(context.Background(), at, 0)
		if s == time.Minute { // From now on nobody exports the series with a timestamp of its own.
			c.take(result{collector: slow, samples: []collectors.Sample{{Labels: exported}}}, at)
		}
	}
	if got := count(t, c, "count_over_time(vitals_evaluation_timestamp_seconds[1h])", at); got != 1 {
		t.Errorf("samples that are kept of a series of which no rule wants the past = %g, want 1", got)
	}
	for _, name := range []string{"exported", "stamped"} {
		if got := count(t, c, "count("+name+")", at); got != 1 {
			t.Errorf("count(%s) after 29 minutes = %g, want 1: the lookback is 30 minutes", name, got)
		}
	}
}

func TestClockStepBeforeTheFirstRound(t *testing.T) {
	c, err := newCore(Config{Sources: []Source{{Name: "c", Interval: time.Second, Timeout: time.Second, Collector: &fakeCollector{"c"}}}}, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	c.shift(time.Hour)
	got := c.snapshot(context.Background(), epoch.Add(time.Hour), 0).Collectors[0]
	if !got.LastRun.IsZero() || !got.LastSuccess.IsZero() {
		t.Errorf("LastRun = %v, LastSuccess = %v, want none: nothing ran", got.LastRun, got.LastSuccess)
	}
}
