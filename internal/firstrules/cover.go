package firstrules

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/rules"
)

// covered reports whether a rule in the files judges a collector with these metrics: an obeyed
// rule of a state that can fail it, or a recording rule, selects one of them. With warn, a
// warning is sufficient.
func covered(files []*rules.File, metrics []collectors.Metric, warn bool) bool {
	for _, f := range files {
		for _, g := range f.Groups {
			for i := range g.Rules {
				r := &g.Rules[i]
				judges := r.Record != "" || r.State != "" && !r.Observe && (warn || r.Severity != rules.SeverityWarning)
				if judges && r.AST != nil && slices.ContainsFunc(parser.ExtractSelectors(r.AST), func(s []*labels.Matcher) bool { return selects(s, metrics) }) {
					return true
				}
			}
		}
	}
	return false
}

// applies reports whether each selector of an expression selects one of the metrics.
func applies(expr parser.Expr, metrics []collectors.Metric) bool {
	for _, s := range parser.ExtractSelectors(expr) {
		if !selects(s, metrics) {
			return false
		}
	}
	return true
}

// selects reports whether a selector can match a series of one of the metrics.
func selects(selector []*labels.Matcher, metrics []collectors.Metric) bool {
	return slices.ContainsFunc(metrics, func(m collectors.Metric) bool {
		return !slices.ContainsFunc(selector, func(by *labels.Matcher) bool { return !possible(by, m) })
	})
}

// possible reports whether a series of a metric can have a value that the matcher accepts.
func possible(by *labels.Matcher, m collectors.Metric) bool {
	if by.Name == model.MetricNameLabel {
		return by.Matches(m.Name)
	}
	values, has := m.Labels[by.Name]
	if !has {
		return m.AnyLabel || by.Matches("")
	}
	return values == nil || slices.ContainsFunc(values, by.Matches)
}
