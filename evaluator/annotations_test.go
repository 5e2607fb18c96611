package evaluator_test

import (
	"math"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
)

// The queries of an annotation find what the rules before wrote in the same evaluation.
// What the rule itself and those after it write comes with the next evaluation.
func TestAnnotationsAreExpandedInTheEvaluation(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, `
groups:
  - name: g
    rules:
      - {record: "load:before", expr: load}
      - alert: Own
        expr: load > 0
        annotations:
          summary: >-
            {{ with query "count(ALERTS{alertname=\"Own\"})" }}{{ . | first | value }}{{ end }},
            {{ with query "load:before" }}{{ . | first | value }}{{ end }},
            {{ with query "load:after" }}{{ . | first | value }}{{ end }}
      - {record: "load:after", expr: load}
`)
	for i, want := range []string{", 1, ", "1, 2, 1", "1, 3, 2"} {
		s := p.at(float64(60*i), map[string]float64{"load": float64(i + 1)})
		if got := s.Rules[0].Summary; got != want {
			t.Errorf("evaluation %d: summary %q, want %q", i, got, want)
		}
	}
}

// 0 and -0 are equal and have different texts.
func TestAnnotationsFollowTheSign(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, `
groups: [{name: g, rules: [{alert: Zero, expr: load == 0, annotations: {summary: "{{ $value }}"}}]}]`)
	for i, tt := range []struct {
		value float64
		want  string
	}{{0, "0"}, {math.Copysign(0, -1), "-0"}, {0, "0"}} {
		s := p.at(float64(i), map[string]float64{"load": tt.value})
		if got := s.Rules[0].Summary; got != tt.want {
			t.Errorf("evaluation %d: summary %q, want %q", i, got, tt.want)
		}
	}
}

// A histogram is no number, as in Prometheus.
func TestAnnotationsOfHistograms(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, `
groups: [{name: g, rules: [{alert: Slow, expr: 'latency', annotations: {summary: "{{ $value | humanize }}"}}]}]`)
	h := &histogram.FloatHistogram{Count: 1, Sum: 1, PositiveSpans: []histogram.Span{{Length: 1}}, PositiveBuckets: []float64{1}}
	if err := p.Append(evaluator.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "latency"), Histogram: h}); err != nil {
		t.Fatal(err)
	}
	const want = "<error expanding template: error executing template __alert_Slow: template: __alert_Slow:1:124: executing \"__alert_Slow\" at <humanize>: error calling humanize: can't convert *histogram.FloatHistogram to float>"
	if got := p.at(0, nil).Rules[0].Summary; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
}

// The bounds of expressions also hold for a query that a template composes.
func TestComposedQueriesAreBounded(t *testing.T) {
	p := simulate(t, evaluator.Config{}, evaluator.SimulationOptions{}, `
groups: [{name: g, rules: [{alert: Peak, expr: load > 0, annotations: {summary: '{{ printf "max_over_time(load[30d:%dms])" 1 | query }}'}}]}]`)
	const want = "subquery of 2592000000 steps of 1ms, expected at most 100000"
	if got := p.at(0, map[string]float64{"load": 1}).Rules[0].Summary; !strings.Contains(got, want) {
		t.Errorf("summary %q, want an error with %q", got, want)
	}
}

// The labels and the address of the flags are those of templates, in labels as well.
func TestTemplatesHaveExternalLabels(t *testing.T) {
	c, _ := gauge("up")
	text := strings.Replace(upRule, "labels: {", "labels: {where: '{{ $externalLabels.cluster }}', link: '{{ $externalURL }}/x', ", 1)
	e, stop := startWith(t, evaluator.Config{Files: parse(t, text), Sources: []evaluator.Source{source("c", c)}},
		evaluator.Options{ExternalLabels: map[string]string{"cluster": "prod"}, ExternalURL: "https://vitals.example"})
	defer stop()
	for len(e.Snapshot().Rules[0].Alerts) == 0 {
		<-e.Changed()
	}
	if got := e.Snapshot().Rules[0].Alerts[0].Labels; got.Get("where") != "prod" || got.Get("link") != "https://vitals.example/x" {
		t.Errorf("labels = %s, want those of the flags", got)
	}
}
