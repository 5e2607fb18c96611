package lint

import (
	"cmp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

// aliveWithoutEvidence finds an alive that cannot fail: no collector measures what its rules
// select, and missing data passes. Liveness then looks as if it were checked.
func aliveWithoutEvidence(p *pass) {
	if p.opts.Partial || p.opts.Vocabulary == nil || !p.opts.Vocabulary.Configured {
		return
	}
	var first *subject
	for _, s := range p.subjects {
		if s.rule.State != "alive" || !s.enforced() {
			continue
		}
		if p.mayFail(s) {
			return
		}
		first = cmp.Or(first, s)
	}
	if first == nil {
		return
	}
	f := p.at(first, "labels.state", "name the components that must report (expect), or add a rule over something that is measured on this host",
		"alive may never fail: its rules need reports of components, and none is expected, or metrics that no collector exports")
	if !p.opts.Complete {
		f.Severity = Info // another file may have a rule with evidence
	}
}

// mayFail reports whether a rule can fail: by missing data, or because something is measured
// that it selects.
func (p *pass) mayFail(s *subject) bool {
	if cmp.Or(s.rule.NoData, p.opts.AliveNoData, rules.NoDataPass) != rules.NoDataPass {
		return true
	}
	leaves := p.leaves(s.rule)
	if len(leaves) == 0 {
		return true
	}
	byAbsence := false
	p.nodes(s, func(n parser.Node) {
		call, ok := n.(*parser.Call)
		byAbsence = byAbsence || ok && slices.Contains([]string{"absent", "absent_over_time", "vector"}, call.Func.Name)
	})
	return byAbsence || slices.ContainsFunc(leaves, func(l leaf) bool {
		return ofAlerts(promexpr.MetricName(l.selector)) || slices.ContainsFunc(p.sources(l.selector), func(m Metric) bool { return !p.unrequested(m) })
	})
}

// unrequested reports whether series of the metric exist only if a program reports them that
// the configuration does not name.
func (p *pass) unrequested(m Metric) bool {
	if m.Collector == "" || m.Interval > 0 {
		return false
	}
	for label, values := range m.Labels {
		named := slices.ContainsFunc(p.opts.Vocabulary.Metrics, func(o Metric) bool {
			return o.Collector == m.Collector && len(o.Labels[label]) > 0
		})
		if values == nil && !named {
			return true
		}
	}
	return false
}
