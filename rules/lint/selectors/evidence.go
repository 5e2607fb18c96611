package selectors

import (
	"cmp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// aliveWithoutEvidence finds an alive that cannot fail: no collector measures what its rules
// select, and missing data passes. Liveness then looks as if it were checked.
func aliveWithoutEvidence(p *check.Pass) {
	if p.Options.Partial || p.Options.Vocabulary == nil || !p.Options.Vocabulary.Configured {
		return
	}
	var first *analysis.Subject
	for _, s := range p.Subjects {
		if s.Rule.State != "alive" || !s.Enforced() {
			continue
		}
		if mayFail(p, s) {
			return
		}
		first = cmp.Or(first, s)
	}
	if first == nil {
		return
	}
	f := p.At(first, "labels.state", "name the components that must report (expect), or add a rule over something that is measured on this host",
		"alive may never fail: its rules need reports of components, and none is expected, or metrics that no collector exports")
	if !p.Options.Complete {
		f.Severity = check.Info // another file may have a rule with evidence
	}
}

// mayFail reports whether a rule can fail: by missing data, or because something is measured
// that it selects.
func mayFail(p *check.Pass, s *analysis.Subject) bool {
	if cmp.Or(s.Rule.NoData, p.Options.AliveNoData, rules.NoDataPass) != rules.NoDataPass {
		return true
	}
	leaves := p.Leaves(s.Rule)
	if len(leaves) == 0 {
		return true
	}
	byAbsence := false
	syntax.Nodes(s.Rule.AST, func(n parser.Node) {
		call, ok := n.(*parser.Call)
		byAbsence = byAbsence || ok && slices.Contains([]string{"absent", "absent_over_time", "vector"}, call.Func.Name)
	})
	return byAbsence || slices.ContainsFunc(leaves, func(l analysis.Leaf) bool {
		return analysis.OfAlerts(promexpr.MetricName(l.Selector)) || slices.ContainsFunc(p.Sources(l.Selector), func(m analysis.Metric) bool { return !unrequested(p, m) })
	})
}

// unrequested reports whether series of the metric exist only if a program reports them that
// the configuration does not name.
func unrequested(p *check.Pass, m analysis.Metric) bool {
	if m.Collector == "" || m.Interval > 0 {
		return false
	}
	for label, values := range m.Labels {
		named := slices.ContainsFunc(p.Options.Vocabulary.Metrics, func(o analysis.Metric) bool {
			return o.Collector == m.Collector && len(o.Labels[label]) > 0
		})
		if values == nil && !named {
			return true
		}
	}
	return false
}
