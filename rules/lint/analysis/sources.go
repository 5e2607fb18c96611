package analysis

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Interval returns the interval of the slowest collector of a rule; zero if it is unknown.
func (a *Analysis) Interval(s *Subject) time.Duration {
	var longest time.Duration
	for _, l := range a.Leaves(s.Rule) {
		for _, m := range a.Sources(l.Selector) {
			longest = max(longest, m.Interval)
		}
	}
	return longest
}

// Sources returns the metrics of the vocabulary that a selector can match directly. Metrics
// of Others count only if no other metric has the name. The result must not be changed.
func (a *Analysis) Sources(s *parser.VectorSelector) []Metric {
	found, ok := a.sourced[s]
	if !ok && a.vocabulary != nil {
		found = a.sourcesOf(s)
		a.sourced[s] = found
	}
	return found
}

func (a *Analysis) sourcesOf(s *parser.VectorSelector) []Metric {
	name := promexpr.MetricName(s)
	all := a.metrics[name]
	if name == "" {
		all = a.vocabulary.Metrics
	}
	found := matching(all, s.LabelMatchers)
	if len(found) == 0 && !Own(name) && !OfAlerts(name) && len(a.Recorded[name]) == 0 {
		found = matching(a.vocabulary.Others, s.LabelMatchers)
	}
	return found
}

// matching returns the metrics of which a series can satisfy the matchers.
func matching(all []Metric, matchers []*labels.Matcher) []Metric {
	var found []Metric
	for i := range all {
		if all[i].Matches(matchers) {
			found = append(found, all[i])
		}
	}
	return found
}
