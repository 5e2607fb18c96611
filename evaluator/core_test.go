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

// oneSource is a configuration with one collector and a rule over it.
func oneSource(t *testing.T) (Config, *fakeCollector) {
	t.Helper()
	c := &fakeCollector{"c"}
	return Config{
		Files:   parseRules(t, "groups: [{name: g, interval: 1h, rules: [{alert: Down, expr: up == 0, keep_firing_for: 1m, labels: {state: ready}}]}]"),
		Sources: []Source{{Name: "c", Interval: 10 * time.Second, Timeout: time.Second, Collector: c}},
	}, c
}

func upSamples(values ...float64) []collectors.Sample {
	var all []collectors.Sample
	for i, v := range values {
		all = append(all, collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "up", "i", string(rune('a'+i))), Value: v})
	}
	return all
}

func TestClockStepMovesAllTimes(t *testing.T) {
	cfg, source := oneSource(t)
	c, err := newCore(cfg, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	pass := func(at time.Time) *Snapshot {
		c.evaluate(context.Background(), at)
		return c.snapshot(context.Background(), at, 0)
	}
	c.take(result{collector: source, samples: upSamples(0)}, epoch.Add(time.Second))
	c.reloaded(nil, epoch.Add(2*time.Second))
	before := pass(epoch.Add(2 * time.Second))
	const d = -48 * time.Hour
	c.shift(d)
	after := pass(epoch.Add(3*time.Second + d))
	for _, c := range []struct {
		name          string
		before, after time.Time
	}{
		{"Started", before.Started, after.Started},
		{"Reload.At", before.Reload.At, after.Reload.At},
		{"Reload.LastSuccess", before.Reload.LastSuccess, after.Reload.LastSuccess},
		{"State.Since", before.States[1].Since, after.States[1].Since},
		{"Rule.Since", before.Rules[0].Since, after.Rules[0].Since},
		{"Alert.ActiveAt", before.Rules[0].Alerts[0].ActiveAt, after.Rules[0].Alerts[0].ActiveAt},
		{"Collector.LastRun", before.Collectors[0].LastRun, after.Collectors[0].LastRun},
		{"Collector.LastSuccess", before.Collectors[0].LastSuccess, after.Collectors[0].LastSuccess},
	} {
		if got := c.after.Sub(c.before); got != d {
			t.Errorf("%s moved by %s, want %s", c.name, got, d)
		}
	}
	if got := c.groups[0].last; !got.Equal(epoch.Add(2*time.Second + d)) {
		t.Errorf("the group was last evaluated at %s, want it moved by %s", got, d)
	}
}

func TestFailedReloadKeepsTheTimeOfTheLastSuccess(t *testing.T) {
	cfg, _ := oneSource(t)
	c, err := newCore(cfg, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	c.reloaded(nil, epoch.Add(time.Minute))
	c.reloaded(context.Canceled, epoch.Add(2*time.Minute))
	want := Reload{At: epoch.Add(2 * time.Minute), LastSuccess: epoch.Add(time.Minute), Error: "context canceled"}
	if got := c.snapshot(context.Background(), epoch, 0).Reload; got != want {
		t.Errorf("Reload = %+v, want %+v", got, want)
	}
}

func TestSeriesOfARemovedCollectorEnd(t *testing.T) {
	cfg, source := oneSource(t)
	c, err := newCore(cfg, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	c.take(result{collector: source, samples: upSamples(1, 1)}, epoch)
	if got := count(t, c, "count(up)", epoch); got != 2 {
		t.Fatalf("count(up) = %g, want 2", got)
	}
	cfg.Sources = nil
	if err := c.apply(cfg, epoch.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := count(t, c, "count(up)", epoch.Add(time.Second)); got != 0 {
		t.Errorf("count(up) without the collector = %g, want none", got)
	}
	if c.take(result{collector: source, samples: upSamples(1)}, epoch.Add(2*time.Second)) {
		t.Error("take() of a collector that was removed = true, want it dropped")
	}
}

func TestRoundThatDoesNotFitTheWindowFails(t *testing.T) {
	cfg, source := oneSource(t)
	c, err := newCore(cfg, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	c.window.SetLimit(c.window.Len() + 1)
	c.take(result{collector: source, samples: upSamples(1, 1)}, epoch)
	got := c.snapshot(context.Background(), epoch, 0).Collectors[0]
	if got.Success || got.Error == "" || !got.LastSuccess.IsZero() {
		t.Errorf("collector = %+v, want a failure: its series did not fit", got)
	}
}

func TestStartedNeedsAnEvaluationAlsoWithoutCollectors(t *testing.T) {
	c, err := newCore(Config{}, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Verdict{Fail, Pass, Pass} {
		s, _ := c.snapshot(context.Background(), epoch, 0).State(Started, epoch)
		if s.Verdict != want {
			t.Errorf("started in snapshot %d = %s, want %s", i+1, s.Verdict, want)
		}
	}
}
