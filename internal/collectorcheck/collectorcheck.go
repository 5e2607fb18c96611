// Package collectorcheck reports what each collector of a configuration measured, which rules
// use it, and which rules select series that nothing measured.
package collectorcheck

import (
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint"
)

// Report is the result of one collection of each collector.
type Report struct {
	Collectors []Collector `json:"collectors"`
	// Unmatched are in the order of the rules.
	Unmatched []Unmatched `json:"unmatched"`
}

// Collector is what one collector measured.
type Collector struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Ran is unset if the collection did not end in time.
	Ran bool `json:"ran"`
	// Success is set if the collection ended without an error.
	Success bool `json:"success"`
	// Found is the note of the collector or the error, as one line without secrets.
	Found string `json:"found,omitempty"`
	// Seconds is how long the collection took.
	Seconds float64 `json:"seconds"`
	// Metrics are in the order of their names.
	Metrics []Metric `json:"metrics"`
}

// Metric is a metric of a collector.
type Metric struct {
	Name string `json:"name"`
	// Series are in the order of the collection.
	Series []Series `json:"series"`
	// Rules are the rules that select one of the series, in the order of their files. A
	// recording rule has the name of its metric.
	Rules []string `json:"rules"`
}

// Series is one series and its value.
type Series struct {
	Labels map[string]string `json:"labels"`
	Value  explain.Number    `json:"value"`
}

// Unused returns the names of the metrics that no rule uses.
func (c *Collector) Unused() []string {
	var names []string
	for _, m := range c.Metrics {
		if len(m.Rules) == 0 {
			names = append(names, m.Name)
		}
	}
	return names
}

// OK reports whether every collection ended in time and without an error.
func (r *Report) OK() bool {
	return !slices.ContainsFunc(r.Collectors, func(c Collector) bool { return !c.Success })
}

// Of returns the report of a snapshot. metrics are what its configuration can export.
func Of(s *evaluator.Snapshot, metrics []lint.Metric) *Report {
	users := usersOf(s.Groups)
	r := &Report{Collectors: []Collector{}, Unmatched: []Unmatched{}}
	for i, c := range s.Collectors {
		r.Collectors = append(r.Collectors, Collector{
			Name: c.Name, Kind: c.Kind, Ran: c.Ran, Success: c.Ran && c.Success, Found: c.Finding(),
			Seconds: c.Duration.Seconds(), Metrics: metricsOf(s.Batches[i].Samples, users),
		})
	}
	r.addUnmatched(users, metrics)
	return r
}

// metricsOf groups samples by metric and adds the rules that use them.
func metricsOf(samples []collectors.Sample, users []user) []Metric {
	byName := map[string]*Metric{}
	for _, sample := range samples {
		name := sample.Labels.Get(model.MetricNameLabel)
		m := byName[name]
		if m == nil {
			m = &Metric{Name: name, Rules: []string{}}
			byName[name] = m
		}
		own := sample.Labels.Map()
		delete(own, model.MetricNameLabel)
		m.Series = append(m.Series, Series{own, explain.Number(sample.Value)})
		for i := range users {
			u := &users[i]
			if !u.selects(sample.Labels) {
				continue
			}
			u.matched = true
			if !slices.Contains(m.Rules, u.rule) {
				m.Rules = append(m.Rules, u.rule)
			}
		}
	}
	metrics := make([]Metric, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		metrics = append(metrics, *byName[name])
	}
	return metrics
}

// user is a rule and one of the selectors in its expression.
type user struct {
	rule     string
	selector *parser.VectorSelector
	// optional is set if the rule may work without a series of the selector.
	optional bool
	// matched is set once a series of the selector was found.
	matched bool
}

func (u *user) selects(series labels.Labels) bool {
	return !slices.ContainsFunc(u.selector.LabelMatchers, func(m *labels.Matcher) bool { return !m.Matches(series.Get(m.Name)) })
}

// usersOf returns the selectors of all rules.
func usersOf(groups []evaluator.Group) []user {
	var all []user
	for _, g := range groups {
		for _, r := range g.Rules {
			expr, err := promexpr.Parse(r.Query)
			if err != nil {
				continue // not possible: the evaluator has parsed it
			}
			parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok {
					all = append(all, user{rule: r.Name, selector: s, optional: optional(append(path, n))})
				}
				return nil
			})
		}
	}
	return all
}
