package lint

import (
	"cmp"
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
	first, common := p.firstReady(s)
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

// readyLeaf is a leaf of an enforced rule of ready, with the values for which the rule
// fires. rank is its place by the length of "for".
type readyLeaf struct {
	rule   *subject
	leaf   leaf
	values values
	rank   int
}

// readyLeaves returns the leaves of all rules of ready.
func (p *pass) readyLeaves() *selectorIndex[readyLeaf] {
	if p.ready != nil {
		return p.ready
	}
	var all []*subject
	for _, s := range p.subjects {
		if s.rule.State == "ready" && s.enforced() {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *subject) int { return cmp.Compare(a.rule.For, b.rule.For) })
	p.ready = &selectorIndex[readyLeaf]{}
	for rank, s := range all {
		for _, l := range p.leaves(s.rule) {
			if v, ok := p.condition(l); ok {
				p.ready.add(l.selector, readyLeaf{s, l, v, rank})
			}
		}
	}
	return p.ready
}

// firstReady returns the rule of ready with the shortest "for" that only fires when s does
// as well, judged by one selector, and that selector of s. It returns nil if there is none.
func (p *pass) firstReady(s *subject) (first *subject, common leaf) {
	rank := 0
	for _, l := range p.leaves(s.rule) {
		v, ok := p.condition(l)
		if !ok {
			continue
		}
		for ready := range p.readyLeaves().like(l.selector) {
			if first != nil && ready.rank >= rank {
				break
			}
			if overlap(l.selector, ready.leaf.selector) && ready.values.within(v) {
				first, common, rank = ready.rule, l, ready.rank
				break
			}
		}
	}
	return first, common
}

// condition returns the values of a selector's series for which the rule fires. ok is false
// unless the selector is compared with a number outside of any exception (unless). It
// follows at most one recording rule.
func (p *pass) condition(l leaf) (v values, ok bool) {
	if len(l.via) > 1 {
		return v, false
	}
	v, ok, possible := p.through(l.path, l.selector, l.selector, v, false)
	if possible && len(l.via) == 1 {
		v, ok, possible = p.through(l.above, l.at, l.selector, v, ok)
	}
	return v, ok && possible
}

// through walks up from a part of an expression that stands for a selector. It returns the
// values that pass a comparison on the way, whether there was one, and whether a value that
// passes makes the whole expression true.
func (p *pass) through(way *trail, child parser.Node, of *parser.VectorSelector, v values, compared bool) (values, bool, bool) {
	for n := range way.upwards() {
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
