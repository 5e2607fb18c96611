package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// play is a simulation that begins at the epoch.
type play struct {
	*evaluator.Simulation
	t *testing.T
}

func simulate(t *testing.T, cfg evaluator.Config, opts evaluator.SimulationOptions, rules string) *play {
	t.Helper()
	cfg.Files = parse(t, rules)
	s, err := evaluator.NewSimulation(cfg, opts, time.UnixMilli(0))
	if err != nil {
		t.Fatalf("NewSimulation() = %v, want no error", err)
	}
	return &play{s, t}
}

// at appends values of series without labels and evaluates, at so many seconds.
func (p *play) at(second float64, values map[string]float64) *evaluator.Snapshot {
	p.t.Helper()
	for name, v := range values {
		err := p.Append(evaluator.Sample{Labels: labels.FromStrings(model.MetricNameLabel, name), T: int64(second * 1000), Value: v})
		if err != nil {
			p.t.Fatalf("Append() = %v, want no error", err)
		}
	}
	return p.Evaluate(context.Background(), moment(second))
}

func moment(second float64) time.Time { return time.UnixMilli(int64(second * 1000)) }

// query returns the result of an expression, one line an element.
func (p *play) query(expr string, second float64) string {
	p.t.Helper()
	all, err := p.Query(context.Background(), expr, moment(second))
	if err != nil {
		p.t.Fatalf("Query(%s) = %v, want no error", expr, err)
	}
	var lines []string
	for _, s := range all {
		lines = append(lines, fmt.Sprintf("%s %g", s.Labels, s.Value))
	}
	return strings.Join(lines, "\n")
}

func simulatedVerdict(t *testing.T, s *evaluator.Snapshot, state string) string {
	t.Helper()
	v, ok := s.State(state, s.At)
	if !ok {
		t.Fatalf("State(%q) does not exist", state)
	}
	return strings.TrimSpace(v.Verdict.String() + " " + v.Reason)
}

var stale = math.Float64frombits(value.StaleNaN)

const patientRule = `
groups:
  - name: g
    rules:
      - alert: Down
        expr: up == 0
        for: 20s
        labels: {state: ready}
`

func TestSimulationForgetsEverythingAtARestart(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, patientRule)
	statuses := func(s *evaluator.Snapshot) string {
		return s.Rules[0].Status.String() + ", ready " + simulatedVerdict(t, s, "ready") + ", started " + simulatedVerdict(t, s, "started")
	}
	steps := []struct {
		second  float64
		values  map[string]float64
		restart bool
		want    string
	}{
		{0, map[string]float64{"up": 1}, false, "ok, ready pass, started pass"},
		{10, map[string]float64{"up": 0}, false, "pending, ready pass, started pass"},
		{29, nil, false, "pending, ready pass, started pass"},
		{30, nil, false, "failing, ready fail, started pass"},
		{40, nil, true, "unknown, ready fail, started pass"},                          // the history is lost, too
		{45, map[string]float64{"up": 0}, false, "pending, ready fail, started pass"}, // and so is that it was ok
		{64, nil, false, "pending, ready fail, started pass"},
		{65, nil, false, "failing, ready fail, started pass"},
		{70, map[string]float64{"up": stale}, false, "unknown, ready fail, started pass"},
	}
	for _, step := range steps {
		if step.restart {
			if err := p.Restart(moment(step.second)); err != nil {
				t.Fatalf("Restart() = %v, want no error", err)
			}
		}
		if got := statuses(p.at(step.second, step.values)); got != step.want {
			t.Errorf("at %g s: got %q, want %q", step.second, got, step.want)
		}
	}
	if got := p.query("up", 30); got != "" {
		t.Errorf("a query about the time before the restart = %q, want nothing", got)
	}
}

// A series without new samples expires, although no value has changed.
func TestSimulatedSeriesExpire(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, patientRule)
	p.at(0, map[string]float64{"up": 0})
	for _, step := range []struct {
		second float64
		want   string
	}{{20, "failing"}, {299, "failing"}, {300, "unknown"}} {
		if got := p.at(step.second, nil).Rules[0].Status.String(); got != step.want {
			t.Errorf("at %g s: Status = %s, want %s", step.second, got, step.want)
		}
	}
}

func TestSimulationAnswersAboutAnyMoment(t *testing.T) {
	p := simulate(t, evaluator.Config{Interval: time.Minute}, evaluator.SimulationOptions{}, `
groups:
  - name: g
    rules:
      - {record: double, expr: m * 2}
`)
	for i := range 100 {
		p.at(float64(i*60), map[string]float64{"m": float64(i)})
	}
	for _, q := range []struct {
		expr   string
		second float64
		want   string
	}{
		{"m", 0, `{__name__="m"} 0`},
		{"m", 119, `{__name__="m"} 1`},
		{"double", 60, `{__name__="double"} 2`},
		{"m @ 120", 0, `{__name__="m"} 2`},
		{"m offset -1m", 0, `{__name__="m"} 1`},
		{"count_over_time(m[2h])", 6000, `{} 100`},
		{"count_over_time(m[10m:])", 6000, `{} 10`}, // a step a minute
		{"time()", 61, `{} 61`},
		{`label_replace(m, "a", "z", "", "") or label_replace(m, "a", "b", "", "")`, 0, "{__name__=\"m\", a=\"b\"} 0\n{__name__=\"m\", a=\"z\"} 0"},
	} {
		if got := p.query(q.expr, q.second); got != q.want {
			t.Errorf("Query(%s) at %g s = %q, want %q", q.expr, q.second, got, q.want)
		}
	}
	if _, err := p.Query(context.Background(), "m[5m]", moment(0)); err == nil {
		t.Error("Query(m[5m]) = nil, want an error: a range is no instant vector")
	}
}

// The step of a subquery without one is the evaluation interval, also below a second.
func TestSimulatedSubqueryStep(t *testing.T) {
	p := simulate(t, evaluator.Config{Interval: 500 * time.Millisecond}, evaluator.SimulationOptions{}, patientRule)
	p.at(0, map[string]float64{"m": 1})
	if got, want := p.query("count_over_time(m[2s:])", 10), "{} 4"; got != want {
		t.Errorf("Query() = %q, want %q", got, want)
	}
}

func TestSimulationReturnsErrors(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, `
groups:
  - name: g
    rules:
      - {alert: Join, expr: 'a * on () b'}
      - {record: joined, expr: 'a * on () b'}
      - {record: fine, expr: a}
`)
	b := func(x string) evaluator.Sample {
		return evaluator.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "b", "x", x)}
	}
	if err := p.Append(b("1"), b("2")); err != nil {
		t.Fatalf("Append() = %v, want no error", err)
	}
	p.at(0, map[string]float64{"a": 1})
	var got []string
	for _, e := range p.Errors() {
		got = append(got, e.Group+" "+e.Rule)
		if !strings.Contains(e.Err.Error(), "found duplicate series") {
			t.Errorf("the error of %s = %v, want one about duplicate series", e.Rule, e.Err)
		}
	}
	if diff := cmp.Diff([]string{"g Join", "g joined"}, got); diff != "" {
		t.Errorf("Errors() differ (-want +got):\n%s", diff)
	}
	p.at(600, map[string]float64{"a": 1})
	if got := p.Errors(); len(got) != 0 {
		t.Errorf("Errors() = %v once the series are gone, want none", got)
	}
}

func TestSimulationShowsAllAlerts(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{
		ExternalLabels: map[string]string{"cluster": "eu"}, ExternalURL: "http://prometheus.example/x",
	}, `
groups:
  - name: g
    rules:
      - alert: Down
        expr: up == 0
        labels: {where: '{{ $externalLabels.cluster }}'}
        annotations: {summary: '{{ $labels.i }} at {{ $externalURL }}, {{ externalURL }}'}
`)
	for i := range 150 {
		if err := p.Append(evaluator.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "up", "i", fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	alerts := p.at(0, nil).Rules[0].Alerts
	if len(alerts) != 150 {
		t.Fatalf("the snapshot has %d alerts, want 150", len(alerts))
	}
	want := alerts[0].Labels.Get("i") + " at http://prometheus.example/x, http://prometheus.example/x"
	if got := alerts[0].Annotations["summary"]; got != want || alerts[0].Labels.Get("where") != "eu" {
		t.Errorf("the alert is %s with the summary %q, want where=\"eu\" and %q", alerts[0].Labels, got, want)
	}
}

const groupsRule = `
groups:
  - name: slow
    interval: 1m
    rules: [{record: slow, expr: m}]
  - name: fast
    rules: [{record: fast, expr: m}]
`

func TestSimulatedGroupsKeepTheirIntervals(t *testing.T) {
	for _, every := range []bool{false, true} {
		p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{EveryGroup: every}, groupsRule)
		p.at(0, map[string]float64{"m": 1})
		p.at(10, map[string]float64{"m": 2})
		want := `{__name__="fast"} 2` + "\n" + `{__name__="slow"} 1`
		if every {
			want = `{__name__="fast"} 2` + "\n" + `{__name__="slow"} 2`
		}
		if got := p.query(`{__name__=~"slow|fast"}`, 10); got != want {
			t.Errorf("with EveryGroup %t: %s, want %s", every, got, want)
		}
	}
}

func TestSimulationHidesOwnMetrics(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{
		Hides: func(name string) bool { return name != "vitals_state" },
	}, patientRule)
	p.at(0, map[string]float64{"up": 1})
	p.at(10, nil)
	want := []string{"ALERTS", "up", "vitals_state"}
	names := map[string]bool{"ALERTS": true}
	all, err := p.Query(context.Background(), `{__name__=~".+"}`, moment(10))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		names[s.Labels.Get(model.MetricNameLabel)] = true
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(names))); diff != "" {
		t.Errorf("the rules see (-want +got):\n%s", diff)
	}
	if got := p.query(`vitals_state{state="ready"}`, 10); got != `{__name__="vitals_state", state="ready"} 1` {
		t.Errorf("vitals_state = %s, want 1", got)
	}
}

func TestSimulatedHistograms(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, `
groups:
  - name: g
    rules:
      - {alert: Many, expr: histogram_count(h) > 2, labels: {state: ready}}
      - {record: kept, expr: h}
      - {record: counted, expr: histogram_count(h)}
`)
	add := func(second, count float64) {
		h := &histogram.FloatHistogram{Count: count}
		if err := p.Append(evaluator.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "h"), T: int64(second * 1000), Histogram: h}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		second, count float64
		want          string
	}{{0, 1, "ok"}, {10, 3, "failing"}, {20, 2, "ok"}} {
		add(step.second, step.count)
		if got := p.at(step.second, nil).Rules[0].Status.String(); got != step.want {
			t.Errorf("at %g s: Status = %s, want %s", step.second, got, step.want)
		}
	}
	if got := p.query("counted", 20); got != `{__name__="counted"} 2` {
		t.Errorf("counted = %s, want 2", got)
	}
	if all := p.Errors(); len(all) != 1 || all[0].Rule != "kept" || !strings.Contains(all[0].Err.Error(), "native histogram") {
		t.Errorf("Errors() = %v, want one of the rule that would record a histogram", all)
	}
	all, err := p.Query(context.Background(), "h", moment(20))
	if err != nil || len(all) != 1 || all[0].Histogram == nil || all[0].Histogram.Count != 2 {
		t.Errorf("Query(h) = %v, %v, want the histogram", all, err)
	}
	if got := p.at(30, map[string]float64{"h": stale}).Rules[0].Status.String(); got != "unknown" {
		t.Errorf("once the series is stale: Status = %s, want unknown", got)
	}
}

func TestSimulatedCollections(t *testing.T) {
	c, _ := gauge("up")
	p := simulate(t, evaluator.Config{Sources: []evaluator.Source{source("c", c)}}, evaluator.SimulationOptions{}, upRule)
	deliver := func(b evaluator.Batch, err error, want string) {
		t.Helper()
		if err := p.Deliver("c", b, err, moment(1)); err != nil {
			t.Fatalf("Deliver() = %v, want no error", err)
		}
		s := p.Evaluate(t.Context(), moment(1))
		if got := fmt.Sprint(s.Rules[0].Status, " ", s.Collectors[0].Success); got != want {
			t.Errorf("status and success after Deliver() = %s, want %s", got, want)
		}
	}
	deliver(evaluator.Batch{Samples: []collectors.Sample{sample(0, "up")}}, nil, "failing true")
	deliver(evaluator.Batch{}, errors.New("refused"), "unknown false")
	if err := p.Deliver("d", evaluator.Batch{}, nil, moment(1)); err == nil {
		t.Error("Deliver() of an unknown source = nil, want an error")
	}
	s, err := p.Apply(t.Context(), evaluator.Config{}, moment(2))
	if err != nil || len(s.Rules) != 0 || len(s.Collectors) != 0 {
		t.Errorf("Apply() = %+v, %v, want no rules and no collectors", s, err)
	}
	if c.collections.Load() != 0 {
		t.Error("the simulation ran a collector")
	}
}
