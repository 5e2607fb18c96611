package oracle

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	promrules "github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/alertmanager"
	"github.com/vitals-health/vitals/rules"
)

// notifiedRules are rules whose alerts fire over notifiedSeries. Their expressions keep or drop
// the labels of a target.
const notifiedRules = `
groups:
  - name: g
    labels: {of: group}
    rules:
      - {record: 'r:x', expr: sum by (x) (m)}
      - {record: 'r:all', expr: 'm * 2'}
      - {record: 'r:chain', expr: 'r:x + 1'}
      - {alert: Recorded, expr: 'r:x == 0'}
      - {alert: RecordedWithTarget, expr: 'r:all == 0'}
      - {alert: RecordedChain, expr: 'r:chain == 1'}
      - {alert: Plain, expr: m == 0, labels: {where: "{{ $labels.x }}", empty: "{{ $labels.none }}"}}
      - {alert: Template, expr: m == 0, labels: {of_region: "{{ $externalLabels.region }}"}}
      - {alert: Own, expr: m == 0, labels: {instance: own, cluster: own}}
      - {alert: SumBy, expr: sum by (x) (m) == 0}
      - {alert: SumByTarget, expr: 'sum by (x, job) (m) == 0'}
      - {alert: SumWithout, expr: sum without (x) (m) == 1}
      - {alert: SumWithoutTarget, expr: 'sum without (instance) (m) == 0'}
      - {alert: Max, expr: max(m) == 1}
      - {alert: Topk, expr: 'topk by (x) (1, m) == 0'}
      - {alert: Counted, expr: 'count_values by (job) ("v", m) == 1'}
      - {alert: Absent, expr: 'absent(nope{y="1"})'}
      - {alert: AbsentTarget, expr: 'absent(nope{job="vitals"})'}
      - {alert: And, expr: m == 0 and on (x) n == 5}
      - {alert: Unless, expr: m unless on (x) n == 6}
      - {alert: OneToOne, expr: m + n == 5}
      - {alert: On, expr: m + on (x) n == 5}
      - {alert: Ignoring, expr: m + ignoring (team) o == 7}
      - {alert: GroupLeft, expr: m + on (x) group_left (team) o == 7}
      - {alert: GroupRight, expr: 'sum by (x) (m) + on (x) group_right () o == 7'}
      - {alert: Replaced, expr: 'label_replace(m == 0, "instance", "other", "x", "(.*)")'}
      - {alert: Function, expr: 'abs(m) == 0'}
      - {alert: Vector, expr: vector(1) == 1}
      - {alert: Scalar, expr: 1 + m == 1}
      - {alert: Subquery, expr: 'max_over_time(m[1m:1s]) == 0'}
`

// notifiedSeries are the metrics of a target, and the value of each.
func notifiedSeries() map[string]float64 {
	return map[string]float64{`m{x="a"}`: 0, `m{x="b"}`: 1, `n{x="a"}`: 5, `n{x="b"}`: 6, `o{x="a",team="t"}`: 7}
}

// added are the labels of the target in Prometheus, and the external labels.
func added() (target, external map[string]string) {
	return map[string]string{"job": "vitals", "instance": "10.0.0.7:8080"}, map[string]string{"cluster": "c", "instance": "external", "region": "r"}
}

// fingerprints returns the fingerprint that Alertmanager computes, by the labels.
func fingerprints(all []map[string]string) []string {
	var found []string
	for _, ls := range all {
		set := model.LabelSet{}
		for name, value := range ls {
			set[model.LabelName(name)] = model.LabelValue(value)
		}
		found = append(found, set.String()+" "+set.Fingerprint().String())
	}
	slices.Sort(found)
	return found
}

// TestNotifiedLabels sends the alerts of rules from Vitals. Alertmanager gets the labels, and so
// computes the fingerprints, of the same rules in a Prometheus that scrapes the metrics.
func TestNotifiedLabels(t *testing.T) {
	ours, theirs := fingerprints(sentByVitals(t)), fingerprints(sentByPrometheus(t))
	if diff := cmp.Diff(theirs, ours); diff != "" || len(ours) < strings.Count(notifiedRules, "alert:") {
		t.Errorf("%d alerts (-Prometheus +Vitals):\n%s", len(ours), diff)
	}
}

func sentByPrometheus(t *testing.T) []map[string]string {
	t.Helper()
	target, external := added()
	var load strings.Builder
	load.WriteString("load 10s\n")
	for series, v := range notifiedSeries() {
		load.WriteString("  " + strings.Replace(series, "{", `{job="`+target["job"]+`",instance="`+target["instance"]+`",`, 1) + " " + model.SampleValue(v).String() + "x10\n")
	}
	db := promqltest.LoadedStorage(t, load.String())
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	at := time.Unix(100, 0)
	var all []map[string]string
	for _, g := range parsed(t)[0].Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				record(t, db, r, func(ctx context.Context, rule *promrules.RecordingRule) (promql.Vector, error) {
					return rule.Eval(ctx, 0, at, promrules.EngineQueryFunc(engine, db), nil, 0)
				})
				continue
			}
			rule := promrules.NewAlertingRule(r.Alert, r.AST, 0, 0, labels.FromMap(r.Labels), labels.EmptyLabels(), labels.FromMap(external), "", true, nil)
			if _, err := rule.Eval(t.Context(), 0, at, promrules.EngineQueryFunc(engine, db), nil, 0); err != nil {
				t.Fatalf("%s: %v", r.Alert, err)
			}
			for _, a := range rule.ActiveAlerts() {
				b := labels.NewBuilder(a.Labels) // as notifier.relabelAlerts does
				for name, value := range external {
					if a.Labels.Get(name) == "" {
						b.Set(name, value)
					}
				}
				all = append(all, b.Labels().Map())
			}
		}
	}
	return all
}

// record stores the result of a recording rule.
func record(t *testing.T, to storage.Appendable, r rules.Rule, eval func(context.Context, *promrules.RecordingRule) (promql.Vector, error)) {
	t.Helper()
	result, err := eval(t.Context(), promrules.NewRecordingRule(r.Record, r.AST, labels.FromMap(r.Labels)))
	if err != nil {
		t.Fatalf("%s: %v", r.Record, err)
	}
	app := to.Appender(t.Context())
	for _, s := range result {
		if _, err := app.Append(0, s.Metric, s.T, s.F); err != nil {
			t.Fatalf("%s: %v", r.Record, err)
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatalf("%s: %v", r.Record, err)
	}
}

func parsed(t *testing.T) []*rules.File {
	t.Helper()
	f, errs := rules.Parse("rules.yml", []byte(notifiedRules), []string{"ready", "alive", "started"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return []*rules.File{f}
}

// fixed is a collector of notifiedSeries.
type fixed struct{}

func (fixed) Describe() []collectors.Desc { return nil }

func (fixed) Collect(context.Context) ([]collectors.Sample, error) {
	var all []collectors.Sample
	for series, v := range notifiedSeries() {
		metric, err := parser.NewParser(parser.Options{}).ParseMetric(series)
		if err != nil {
			return nil, err
		}
		all = append(all, collectors.Sample{Labels: metric, Value: v})
	}
	return all, nil
}

func sentByVitals(t *testing.T) []map[string]string {
	t.Helper()
	var mu sync.Mutex
	got := map[string]map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var alerts []struct{ Labels map[string]string }
		if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, a := range alerts {
			got[labels.FromMap(a.Labels).String()] = a.Labels
		}
	}))
	defer server.Close()
	target, external := added()
	e, err := evaluator.New(evaluator.Config{Files: parsed(t), Sources: []evaluator.Source{{Name: "c", Kind: "stub", Interval: time.Second, Timeout: time.Second, Collector: &fixed{}}}}, evaluator.Options{ExternalLabels: external})
	if err != nil {
		t.Fatal(err)
	}
	n, err := alertmanager.New(alertmanager.Options{URLs: []string{server.URL}, TargetLabels: target, ExternalLabels: external},
		alertmanager.Env{Hide: func(...string) {}, Clean: strings.Clone, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	firing := func() int {
		count := 0
		for _, r := range e.Snapshot().Rules {
			if r.Status == evaluator.Failing {
				count++
			}
		}
		return count
	}
	for changed := e.Changed(); firing() < len(e.Snapshot().Rules); changed = e.Changed() {
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d rules fire", firing(), len(e.Snapshot().Rules))
		}
	}
	running.Go(func() { n.Run(ctx, e) })
	for changed := e.Changed(); n.Status()[0].Sent == 0; changed = e.Changed() {
		<-changed
	}
	cancel()
	running.Wait()
	var all []map[string]string
	for _, ls := range got {
		all = append(all, ls)
	}
	return all
}
