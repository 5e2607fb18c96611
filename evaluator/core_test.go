package evaluator

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/internal/budget"
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
	c.take(workers.Result{Collector: slow, Samples: []collectors.Sample{{Labels: exported}, stamped}}, epoch)
	var at time.Time
	for s := time.Duration(0); s < 29*time.Minute; s += 10 * time.Second {
		at = epoch.Add(s)
		c.evaluate(context.Background(), at)
		c.snapshot(context.Background(), at, 0)
		if s == time.Minute { // From now on no collector exports the series with an explicit timestamp.
			c.take(workers.Result{Collector: slow, Samples: []collectors.Sample{{Labels: exported}}}, at)
		}
	}
	if got := count(t, c, "count_over_time(vitals_evaluation_timestamp_seconds[1h])", at); got != 1 {
		t.Errorf("samples that are kept of a series whose history no rule needs = %g, want 1", got)
	}
	for _, name := range []string{"exported", "stamped"} {
		if got := count(t, c, "count("+name+")", at); got != 1 {
			t.Errorf("count(%s) after 29 minutes = %g, want 1: the lookback is 30 minutes", name, got)
		}
	}
}

func TestClockStepBeforeTheFirstCollection(t *testing.T) {
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
	evaluate := func(at time.Time) *Snapshot {
		c.evaluate(context.Background(), at)
		return c.snapshot(context.Background(), at, 0)
	}
	c.take(workers.Result{Collector: source, Samples: upSamples(0)}, epoch.Add(time.Second))
	c.reloaded(nil, epoch.Add(2*time.Second))
	before := evaluate(epoch.Add(2 * time.Second))
	cfg.Sources = slices.Clone(cfg.Sources)
	cfg.Sources[0].Collector = &fakeCollector{"another"}
	if err := c.apply(cfg, epoch.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	inherited := c.sources[0].inheritedUntil
	const d = -48 * time.Hour
	c.shift(d)
	after := evaluate(epoch.Add(3*time.Second + d))
	for _, moved := range []struct {
		name          string
		before, after time.Time
	}{
		{"Started", before.Started, after.Started},
		{"inherited", inherited, c.sources[0].inheritedUntil},
		{"Reload.At", before.Reload.At, after.Reload.At},
		{"Reload.LastSuccess", before.Reload.LastSuccess, after.Reload.LastSuccess},
		{"State.Since", before.States[1].Since, after.States[1].Since},
		{"Rule.Since", before.Rules[0].Since, after.Rules[0].Since},
		{"Alert.ActiveAt", before.Rules[0].Alerts[0].ActiveAt, after.Rules[0].Alerts[0].ActiveAt},
		{"Alert.FiredAt", before.Rules[0].Alerts[0].FiredAt, after.Rules[0].Alerts[0].FiredAt},
		{"Collector.LastRun", before.Collectors[0].LastRun, after.Collectors[0].LastRun},
		{"Collector.LastSuccess", before.Collectors[0].LastSuccess, after.Collectors[0].LastSuccess},
	} {
		if got := moved.after.Sub(moved.before); got != d {
			t.Errorf("%s moved by %s, want %s", moved.name, got, d)
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
	c.take(workers.Result{Collector: source, Samples: upSamples(1, 1)}, epoch)
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
	if c.take(workers.Result{Collector: source, Samples: upSamples(1)}, epoch.Add(2*time.Second)) {
		t.Error("take() of a collector that was removed = true, want it dropped")
	}
}

func TestCollectionThatDoesNotFitTheWindowFails(t *testing.T) {
	cfg, source := oneSource(t)
	c, err := newCore(cfg, Options{Memory: budget.New(600)}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	c.take(workers.Result{Collector: source, Samples: upSamples(1, 1)}, epoch)
	s := c.snapshot(context.Background(), epoch, 0)
	if got := s.Collectors[0]; got.Success || got.Error == "" || !got.LastSuccess.IsZero() || !got.Refused || len(s.Batches[0].Samples) > 0 {
		t.Errorf("collector = %+v, want a failure without samples: its series did not fit", got)
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

// TestFoldEndsInACycle is about what the check of rule files forbids.
func TestFoldEndsInACycle(t *testing.T) {
	all := []Rule{
		{Name: "A", Status: Failing, DependsOn: []string{"A", "B"}},
		{Name: "B", Status: Failing, DependsOn: []string{"C"}},
		{Name: "C", Status: Failing, DependsOn: []string{"B"}},
	}
	fold(all)
	for i, want := range []string{"C", "C", "B"} {
		if got := all[i].Cause; got != want {
			t.Errorf("cause of %s = %q, want %q", all[i].Name, got, want)
		}
	}
}

func TestRecordingRuleThatFailsIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	source := &fakeCollector{"c"}
	c, err := newCore(Config{
		Files:   parseRules(t, "groups: [{name: g, rules: [{record: r, expr: up, labels: {i: x}}]}]"),
		Sources: []Source{{Name: "c", Interval: time.Minute, Timeout: time.Second, Collector: source}},
	}, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	for i, samples := range [][]collectors.Sample{upSamples(1), upSamples(1, 1), upSamples(1, 1), upSamples(1), upSamples(1)} {
		at := epoch.Add(time.Duration(i) * time.Second)
		c.take(workers.Result{Collector: source, Samples: samples}, at)
		c.evaluate(context.Background(), at)
	}
	for text, want := range map[string]int{"recording rule fails": 1, "recording rule succeeds": 1} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("%q is %d times in the log, want %d:\n%s", text, got, want, log.String())
		}
	}
}

func TestOwnMetricsHaveNoSeriesTwice(t *testing.T) {
	c, err := newCore(Config{Files: parseRules(t, `groups: [{name: g, rules: [
		{alert: A, expr: up == 0, labels: {state: ready, n: "1"}}, {alert: A, expr: up == 1, labels: {state: ready, n: "2"}}, {alert: A, expr: up == 2}]}]`)}, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	batches := c.snapshot(context.Background(), epoch, 0).Batches
	seen := map[string]bool{}
	for _, s := range batches[len(batches)-1].Samples {
		if seen[s.Labels.String()] {
			t.Errorf("%s stands twice", s.Labels)
		}
		seen[s.Labels.String()] = true
	}
	for _, want := range []string{"ready", ""} {
		if !seen[labels.FromStrings(model.MetricNameLabel, "vitals_rule_status", "rule", "A", "state", want, "status", "ok").String()] {
			t.Errorf("vitals_rule_status of the rules A with the state %q is missing", want)
		}
	}
}
