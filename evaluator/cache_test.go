package evaluator

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"pgregory.net/rapid"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/rules"
)

func TestCacheable(t *testing.T) {
	moving := map[string]bool{"recorded": true}
	tests := []struct {
		name, expr string
		want       bool
	}{
		{"a comparison of a last value", `up{job="x"} == 0`, true},
		{"operations of last values", `limit - on (a) used <= 0 and on (a) (unlimited == 0)`, true},
		{"an aggregation", `min by (a) (up) == 0`, true},
		{"absence", `absent(up)`, true},
		{"a constant", `vector(1) == 1`, true},
		{"the time", `time() - last > 120`, false},
		{"the hour", `up == 0 and on () hour() > 3`, false},
		{"the time of a sample", `timestamp(up) > 3`, false},
		{"a range", `increase(x[5m]) > 3`, false},
		{"a subquery", `max_over_time(up[1m:1s]) == 0`, false},
		{"a subquery inside", `up == 0 unless max_over_time((up == 0)[1m:1s])`, false},
		{"an offset", `up offset 1m == 0`, false},
		{"a fixed time", `up @ 100 == 0`, false},
		{"the start of the evaluation", `up @ start() == 0`, false},
		{"any metric", `{job="x"} == 0`, false},
		{"metrics by a pattern", `{__name__=~"up|down"} == 0`, false},
		{"a recorded metric", `up == 0 and recorded`, false},
	}
	p := parser.NewParser(parser.Options{})
	for _, tt := range tests {
		expr, err := p.ParseExpr(tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := cacheable(expr, moving); got != tt.want {
			t.Errorf("%s: cacheable(%s) = %t, want %t", tt.name, tt.expr, got, tt.want)
		}
	}
}

const cachedRules = `
groups:
  - name: g
    rules:
      - {record: recorded, expr: 'floor(vector(time()) % 2)'}
      - {alert: Low, expr: a < 1, for: 3s, labels: {state: ready}, annotations: {summary: 'is {{ $value }}'}}
      - {alert: Both, expr: 'a < 1 and on (x) b == 0', labels: {state: ready}}
      - {alert: Least, expr: min by (x) (a) == 0, keep_firing_for: 2s, labels: {state: ready}}
      - {alert: Gone, expr: absent(b), labels: {state: alive}}
      - {alert: Recorded, expr: recorded == 0, labels: {state: ready}}
      - {alert: Own, expr: 'vitals_collector_success{collector="c0"} == 0', labels: {state: ready}}
      - {alert: Old, expr: time() - b > 3, labels: {state: ready}}
      - {alert: Ranged, expr: 'max_over_time(b[10s]) == 0', labels: {state: ready}}
`

// newCaching makes a core with two collectors; if uncached, every evaluation
// queries every rule.
func newCaching(t *rapid.T, file *rules.File, sources []Source, uncached bool) *core {
	c, err := newCore(Config{Files: []*rules.File{file}, Sources: sources}, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	if uncached {
		for _, g := range c.groups {
			for _, e := range g.rules {
				if e.alerting != nil {
					e.alerting.cacheable = false
				}
			}
		}
	}
	return c
}

// TestCachedResultsAreRight compares an evaluator that caches results with one that
// queries every rule every time.
func TestCachedResultsAreRight(t *testing.T) {
	file, errs := rules.Parse("test.yml", []byte(cachedRules), []string{Ready, Alive, Started})
	if len(errs) > 0 {
		t.Fatalf("Parse() = %v, want no error", errs)
	}
	rapid.Check(t, func(t *rapid.T) {
		var sources []Source
		for i := range 2 {
			sources = append(sources, Source{Name: fmt.Sprint("c", i), Interval: 10 * time.Second, Collector: &fakeCollector{}})
		}
		caching, querying := newCaching(t, file, sources, false), newCaching(t, file, sources, true)
		now := epoch
		for range rapid.IntRange(1, 40).Draw(t, "evaluations") {
			now = now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 5*time.Minute - time.Second, 5 * time.Minute}).Draw(t, "later"))
			if rapid.Bool().Draw(t, "delivers") {
				r := drawResult(t, now)
				r.Collector = rapid.SampledFrom(sources).Draw(t, "collector").Collector
				caching.take(r, now)
				querying.take(r, now)
			}
			if diff := cmp.Diff(statuses(querying, now), statuses(caching, now)); diff != "" {
				t.Fatalf("statuses differ (-queried every time +cached):\n%s", diff)
			}
		}
	})
}

// drawResult draws a collection in which some series are missing, some samples are older
// than the collection, and which is sometimes too late.
func drawResult(t *rapid.T, now time.Time) (r workers.Result) {
	if rapid.IntRange(0, 5).Draw(t, "late") == 0 {
		return workers.Result{Err: context.DeadlineExceeded}
	}
	timestamped := rapid.IntRange(0, 3).Draw(t, "timestamped") == 0
	for _, name := range []string{"a", "b"} {
		for _, x := range []string{"1", "2"} {
			if rapid.IntRange(0, 3).Draw(t, "missing") == 0 {
				continue
			}
			s := collectors.Sample{
				Labels: labels.FromStrings(model.MetricNameLabel, name, "x", x),
				Value:  float64(rapid.IntRange(0, 1).Draw(t, "value")),
			}
			if timestamped {
				s.T = now.Add(-time.Duration(rapid.IntRange(0, 400).Draw(t, "age")) * time.Second).UnixMilli()
			}
			r.Samples = append(r.Samples, s)
		}
	}
	return r
}

// statuses evaluates and describes the result.
func statuses(c *core, at time.Time) []string {
	c.evaluate(context.Background(), at)
	var all []string
	for _, r := range c.snapshot(context.Background(), at, 0).Rules {
		all = append(all, fmt.Sprint(r.Name, " ", r.Status, " ", r.Since, " ", r.Reason, " ", r.Summary, " ", describe("alerts", r)))
	}
	return all
}
