package firstrules

import (
	"iter"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

// covered reports whether a rule in the files judges a collector with these metrics: an obeyed
// rule of a state that can fail it, or a recording rule, selects one of them. With warn, a
// warning is sufficient.
func covered(files []*rules.File, metrics []collectors.Metric, warn bool) bool {
	for _, r := range each(files) {
		judges := r.Record != "" || r.State != "" && !r.Observe && (warn || r.Severity != rules.SeverityWarning)
		if judges && r.AST != nil && slices.ContainsFunc(parser.ExtractSelectors(r.AST), func(s []*labels.Matcher) bool { return selects(s, metrics) }) {
			return true
		}
	}
	return false
}

// each iterates over the rules of the files.
func each(files []*rules.File) iter.Seq2[*rules.File, *rules.Rule] {
	return func(yield func(*rules.File, *rules.Rule) bool) {
		for _, f := range files {
			for _, g := range f.Groups {
				for i := range g.Rules {
					if !yield(f, &g.Rules[i]) {
						return
					}
				}
			}
		}
	}
}

// enforced maps the state and the expression of each obeyed rule in the files to whether the rule
// can fail the state.
func enforced(files []*rules.File) map[[2]string]bool {
	all := map[[2]string]bool{}
	for _, r := range each(files) {
		if r.State != "" && !r.Observe && r.AST != nil {
			key := [2]string{r.State, r.AST.String()}
			all[key] = all[key] || r.Severity != rules.SeverityWarning
		}
	}
	return all
}

// without removes the rules that the files have already, as far as enforced reports.
func without(made []rule, enforced map[[2]string]bool) []rule {
	removed := map[string]bool{}
	made = slices.DeleteFunc(made, func(r rule) bool {
		expr, err := promexpr.Parse(r.Expr)
		if err != nil {
			return false // not possible: rulesOf has parsed it
		}
		critical, ok := enforced[[2]string{r.Labels["state"], expr.String()}]
		removed[r.Alert] = ok && (critical || !r.critical())
		return removed[r.Alert]
	})
	for _, r := range made {
		if removed[r.Annotations["depends_on"]] { // the unit test does not load the other rule
			delete(r.Annotations, "depends_on")
		}
	}
	return made
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
		return named(selector, m.Name) && promexpr.CanMatch(selector, m.Labels, m.AnyLabel)
	})
}

// named reports whether a selector can match a series of the metric with this name.
func named(selector []*labels.Matcher, metric string) bool {
	return !slices.ContainsFunc(selector, func(by *labels.Matcher) bool {
		return by.Name == model.MetricNameLabel && !by.Matches(metric)
	})
}

// LeftOver is a rule that selects what its collector does not export, such as one for the kind that
// the collector had before.
type LeftOver struct {
	File string
	Line int
	// Rule is its name, and Selector what nothing exports.
	Rule, Selector string
	// Collector and Kind are the collector that a label of the selector names.
	Collector, Kind string
}

// leftOver returns the rules for a collector with a selector that can match nothing of what all
// collectors export. A name that is no metric of a kind may be recorded.
func leftOver(files []*rules.File, all []kinds.Config, c *kinds.Config) (found []LeftOver) {
	var exported, known []collectors.Metric
	var exporters []collectors.Exporter
	for i := range all {
		_, kind := all[i].Kind()
		exported = append(exported, kind.Metrics(all[i].Name)...)
		if e, ok := kind.(collectors.Exporter); ok {
			exporters = append(exporters, e)
		}
	}
	for _, kind := range kinds.Names() {
		known = append(known, kinds.New(kind).Metrics("")...)
	}
	key, _ := c.Kind()
	identity := kinds.IdentityLabels()
	left := func(selector []*labels.Matcher) bool {
		ofCollector := slices.ContainsFunc(selector, func(by *labels.Matcher) bool {
			return slices.Contains(identity, by.Name) && by.Matches(c.Name) && !by.Matches("")
		})
		return ofCollector && !selects(selector, exported) && slices.ContainsFunc(known, func(m collectors.Metric) bool {
			forwards := func(e collectors.Exporter) bool { return e.Forwards(m.Name) }
			return named(selector, m.Name) && !slices.ContainsFunc(exporters, forwards)
		})
	}
	for f, r := range each(files) {
		selectors := parser.ExtractSelectors(r.AST)
		if i := slices.IndexFunc(selectors, left); i >= 0 {
			s := parser.VectorSelector{LabelMatchers: selectors[i]}
			s.Name = promexpr.MetricName(&s)
			found = append(found, LeftOver{f.Name, r.Line, r.Name(), s.String(), c.Name, key})
		}
	}
	return found
}
