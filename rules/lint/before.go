package lint

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// aliveBeforeReady finds rules of alive with a shorter "for" than the rules of ready over
// the same series: the process is restarted while it still receives requests.
func aliveBeforeReady(p *pass, s *subject) {
	if s.rule.State != "alive" || !s.enforced() || p.cadence(s.rule.AST, nil).smoothed {
		return
	}
	var first *subject
	var common leaf
	for _, ready := range p.subjects {
		if ready.rule.State != "ready" || !ready.enforced() || first != nil && ready.rule.For >= first.rule.For {
			continue
		}
		if l, ok := p.common(s, ready); ok {
			first, common = ready, l
		}
	}
	if first == nil || first.rule.For <= s.rule.For {
		return
	}
	delay := "at once"
	if s.rule.For > 0 {
		delay = "after " + formatDuration(s.rule.For)
	}
	p.at(s, "for", "set a longer \"for\" in the alive rule than in the ready rule, so that the process is taken out of service first",
		"alive fails %s and ready, which uses %s as well (rule %q), after %s: the process is restarted before it is taken out of service",
		delay, promexpr.MetricName(common.selector), first.rule.Alert, formatDuration(first.rule.For))
}

// common returns a selector of the rule s for which s fires whenever other fires.
func (p *pass) common(s, other *subject) (common leaf, ok bool) {
	for _, a := range p.leaves(s.rule) {
		for _, b := range p.leaves(other.rule) {
			if len(a.via) > 1 || len(b.via) > 1 || !overlap(a.selector, b.selector) { // see condition
				continue
			}
			v, known := p.condition(a)
			w, also := p.condition(b)
			if known && also && w.within(v) {
				return a, true
			}
		}
	}
	return leaf{}, false
}

// condition returns the values of a selector's series for which the rule fires. ok is false
// unless the selector is compared with a number outside of any exception (unless). It
// follows at most one recording rule.
func (p *pass) condition(l leaf) (v values, ok bool) {
	v, ok, possible := p.through(l.path, l.selector, l.selector, v, false)
	if possible && len(l.via) == 1 {
		v, ok, possible = p.through(l.above, l.at, l.selector, v, ok)
	}
	return v, ok && possible && len(l.via) <= 1
}

// through walks up from a part of an expression that stands for a selector. It returns the
// values that pass a comparison on the way, whether there was one, and whether a value that
// passes makes the whole expression true.
func (p *pass) through(way []parser.Node, child parser.Node, of *parser.VectorSelector, v values, compared bool) (values, bool, bool) {
	for _, n := range slices.Backward(way) {
		switch n := n.(type) {
		case *parser.ParenExpr:
		case *parser.AggregateExpr:
			if n.Op != parser.MIN && n.Op != parser.MAX {
				return v, compared, false
			}
		case *parser.BinaryExpr:
			switch {
			case n.Op.IsSetOperator() && compared:
				if n.Op == parser.LUNLESS && child == n.RHS {
					return v, compared, false
				}
			case !n.Op.IsComparisonOperator() || n.ReturnBool || compared:
				return v, compared, false
			default:
				v, compared = p.threshold(n, of)
				if !compared {
					return v, compared, false
				}
			}
		default:
			return v, compared, false
		}
		child = n
	}
	return v, compared, true
}

// threshold returns the values of a selector that pass a comparison with a number.
func (p *pass) threshold(n *parser.BinaryExpr, s *parser.VectorSelector) (v values, ok bool) {
	c, ok := promexpr.WithConstant(n)
	return (&analyzer{pass: p}).analyze(s).passing(c.Op, one(c.Limit)), ok
}

// overlap reports whether two selectors of the same metric can select the same series.
func overlap(a, b *parser.VectorSelector) bool {
	name := promexpr.MetricName(a)
	text, _ := contradiction(slices.Concat(a.LabelMatchers, b.LabelMatchers))
	return name != "" && name == promexpr.MetricName(b) && text == ""
}
