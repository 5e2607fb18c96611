package oracle

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	promrules "github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// histogramTimeline returns random scrapes of a node's CNI daemon: it works, fails, is idle,
// restarts, and does not answer. With the limit -1 the alert has every number of
// consecutive failures as its value.
func histogramTimeline(r *rand.Rand, node string) []map[string]float64 {
	const name = "kuryr_cni_request_duration_seconds"
	series := func(part, failed, rest string) string {
		return fmt.Sprintf(`%s_%s{component="cni-metrics",instance="%s",command="ADD",error="%s"%s}`, name, part, node, failed, rest)
	}
	up := fmt.Sprintf(`vitals_scrape_up{component="cni-metrics",instance="%s"}`, node)
	limit := fmt.Sprintf(`vitals_component_consecutive_failures_limit{event="cni_add",instance="%s"}`, node)
	var all []map[string]float64
	seconds := map[string][]float64{}
	for range 150 {
		for range r.IntN(3) {
			failed := []string{"True", "True", "False"}[r.IntN(3)]
			seconds[failed] = append(seconds[failed], r.Float64()*float64([]int{1, 100}[r.IntN(2)]))
		}
		step := map[string]float64{limit: float64([]int{-1, -1, -1, 2}[r.IntN(4)])}
		all = append(all, step)
		switch r.IntN(12) {
		case 0:
			clear(seconds)
		case 1, 2:
			step[up] = 0
			continue
		}
		step[up] = 1
		for failed, durations := range seconds {
			sum, within := 0.0, 0.0
			for _, s := range durations {
				sum += s
				if s <= 50 {
					within++
				}
			}
			step[series("bucket", failed, `,le="50.0"`)] = within
			step[series("bucket", failed, `,le="+Inf"`)] = float64(len(durations))
			step[series("count", failed, "")] = float64(len(durations))
			step[series("sum", failed, "")] = sum
		}
	}
	return all
}

// seriesPlayer is a collector that plays a timeline, one step per collection.
type seriesPlayer struct {
	timeline []map[string]float64
	at       int
}

func (p *seriesPlayer) Describe() []collectors.Desc { return nil }

func (p *seriesPlayer) Collect(context.Context) ([]collectors.Sample, error) {
	step := p.timeline[min(p.at, len(p.timeline)-1)]
	p.at++
	var out []collectors.Sample
	for text, v := range step {
		out = append(out, collectors.Sample{Labels: metric(text), Value: v})
	}
	return out, nil
}

func metric(text string) labels.Labels {
	l, err := parser.NewParser(parser.Options{}).ParseMetric(text)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return l
}

// evaluation is the time and the alerts of an evaluation.
type evaluation struct {
	at     time.Time
	alerts []alert
}

// TestRecordingRulesAgainstPrometheus plays random timelines through the shipped rules that
// use their own earlier results: in the evaluator and in a rule group of Prometheus with
// its storage, which may evaluate independent rules concurrently.
func TestRecordingRulesAgainstPrometheus(t *testing.T) {
	var file *rules.File
	for _, f := range shipped(t) {
		if f.Name == "kuryr-cni-histogram.yml" {
			file = f
		}
	}
	if file == nil {
		t.Fatal("there is no kuryr-cni-histogram.yml")
	}
	const seed = 1 // fixed, so that a failure has its cause in the tested change
	values := map[float64]int{}
	for i := range 20 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		timeline := histogramTimeline(r, "a")
		for j, step := range histogramTimeline(r, "b") {
			maps.Copy(timeline[j], step)
		}
		var evaluations []evaluation
		synctest.Test(t, func(t *testing.T) { evaluations = evaluateHere(t, file, timeline) })
		for j, want := range evaluateThere(t, file, timeline, evaluations) {
			if diff := cmp.Diff(want, evaluations[j].alerts); diff != "" {
				t.Fatalf("timeline %d of seed %d, step %d: alerts differ (-Prometheus +Vitals):\n%s", i, seed, j, diff)
			}
			for _, a := range want {
				values[a.Value]++
			}
		}
	}
	for v := range 4 {
		if values[float64(v)] < 50 {
			t.Errorf("%d consecutive failures occurred %d times, want at least 50 times", v, values[float64(v)])
		}
	}
}

// evaluateHere plays a timeline through the evaluator.
func evaluateHere(t *testing.T, file *rules.File, timeline []map[string]float64) []evaluation {
	p := &seriesPlayer{timeline: timeline}
	e, err := evaluator.New(evaluator.Config{
		Interval: time.Hour, // only results trigger evaluations
		Files:    []*rules.File{file},
		Sources:  []evaluator.Source{{Name: "p", Kind: "player", Interval: 10 * time.Second, Timeout: time.Second, Collector: p}},
	}, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	changed := e.Changed()
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	var evaluations []evaluation
	for range timeline {
		<-changed
		changed = e.Changed()
		s := e.Snapshot()
		var alerts []alert
		for _, r := range s.Rules {
			for _, a := range r.Alerts {
				alerts = append(alerts, alert{a.Labels.String(), a.Firing, a.Value, a.ActiveAt.Round(0), a.FiredAt.Round(0)})
			}
		}
		evaluations = append(evaluations, evaluation{s.At.Round(0), sorted(alerts)})
	}
	cancel()
	<-done
	return evaluations
}

// evaluateThere plays a timeline through Prometheus, at the times of evaluations.
func evaluateThere(t *testing.T, file *rules.File, timeline []map[string]float64, evaluations []evaluation) [][]alert {
	t.Helper()
	db := teststorage.New(t)
	var all []promrules.Rule
	for _, r := range file.Groups[0].Rules {
		if r.Record != "" {
			all = append(all, promrules.NewRecordingRule(r.Record, r.AST, labels.FromMap(r.Labels)))
			continue
		}
		all = append(all, promrules.NewAlertingRule(r.Alert, r.AST, 0, 0, labels.FromMap(r.Labels), labels.EmptyLabels(), labels.EmptyLabels(), "", true, nil))
	}
	opts := &promrules.ManagerOptions{
		QueryFunc:              promrules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), db),
		NotifyFunc:             func(context.Context, string, ...*promrules.Alert) {},
		Context:                t.Context(),
		Appendable:             db,
		Queryable:              db,
		MaxConcurrentEvals:     4,
		ConcurrentEvalsEnabled: true,
	}
	promrules.NewManager(opts) // sets further defaults
	group := promrules.NewGroup(promrules.GroupOptions{Name: file.Groups[0].Name, File: file.Name, Interval: 10 * time.Second, Rules: all, Opts: opts})
	opts.RuleDependencyController.AnalyseRules(all)

	var results [][]alert
	var before map[string]float64
	for i, step := range timeline {
		write(t, db, evaluations[i].at, before, step)
		before = step
		group.Eval(t.Context(), evaluations[i].at)
		var alerts []alert
		for _, r := range group.AlertingRules() {
			for _, a := range r.ActiveAlerts() {
				alerts = append(alerts, alert{a.Labels.String(), a.State == promrules.StateFiring, a.Value, a.ActiveAt, a.FiredAt})
			}
		}
		results = append(results, sorted(alerts))
	}
	return results
}

// write stores a step like a scrape: series that have ended are marked stale.
func write(t *testing.T, db storage.Appendable, at time.Time, before, step map[string]float64) {
	t.Helper()
	app := db.Appender(t.Context())
	for text, v := range stepWithEnds(before, step) {
		if _, err := app.Append(0, metric(text), at.UnixMilli(), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
}

// stepWithEnds returns a step with stale markers for the series that have ended.
func stepWithEnds(before, step map[string]float64) map[string]float64 {
	all := maps.Clone(step)
	for text := range before {
		if _, ok := step[text]; !ok {
			all[text] = math.Float64frombits(value.StaleNaN)
		}
	}
	return all
}
