package conditions

import (
	"cmp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/numbers"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// aliveBeforeReady finds rules of alive with a shorter "for" than the rules of ready over
// the same series: the process is restarted while it still receives requests.
func aliveBeforeReady(p *check.Pass) {
	ready := readyLeaves(p.Analysis)
	p.EachRule(func(p *check.Pass, s *analysis.Subject) { restartsFirst(p, s, ready) })
}

// restartsFirst reports a rule of alive that fails before the rule of ready.
func restartsFirst(p *check.Pass, s *analysis.Subject, ready *syntax.Index[readyLeaf]) {
	if s.Rule.State != "alive" || !s.Enforced() || p.Cadence(s.Rule.AST, nil).Smoothed {
		return
	}
	first, common := firstReady(p.Analysis, s, ready)
	if first == nil || first.Rule.For <= s.Rule.For {
		return
	}
	delay := "at once"
	if s.Rule.For > 0 {
		delay = "after " + check.FormatDuration(s.Rule.For)
	}
	p.At(s, "for", "set a longer \"for\" in the alive rule than in the ready rule, so that the process is taken out of service first",
		"alive fails %s and ready, which uses %s as well (rule %q), after %s: the process is restarted before it is taken out of service",
		delay, promexpr.MetricName(common.Selector), first.Rule.Alert, check.FormatDuration(first.Rule.For))
}

// readyLeaf is a leaf of an enforced rule of ready, with the values for which the rule
// fires. rank is its place by the length of "for".
type readyLeaf struct {
	rule   *analysis.Subject
	leaf   analysis.Leaf
	values numbers.Values
	rank   int
}

// readyLeaves returns the leaves of all rules of ready.
func readyLeaves(a *analysis.Analysis) *syntax.Index[readyLeaf] {
	var all []*analysis.Subject
	for _, s := range a.Subjects {
		if s.Rule.State == "ready" && s.Enforced() {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(x, y *analysis.Subject) int { return cmp.Compare(x.Rule.For, y.Rule.For) })
	index := &syntax.Index[readyLeaf]{}
	for rank, s := range all {
		for _, l := range a.Leaves(s.Rule) {
			if v, ok := condition(a, l); ok {
				index.Add(l.Selector, readyLeaf{s, l, v, rank})
			}
		}
	}
	return index
}

// firstReady returns the rule of ready with the shortest "for" that only fires when s does
// as well, judged by one selector, and that selector of s. It returns nil if there is none.
func firstReady(a *analysis.Analysis, s *analysis.Subject, index *syntax.Index[readyLeaf]) (first *analysis.Subject, common analysis.Leaf) {
	rank := 0
	for _, l := range a.Leaves(s.Rule) {
		v, ok := condition(a, l)
		if !ok {
			continue
		}
		for ready := range index.Like(l.Selector) {
			if first != nil && ready.rank >= rank {
				break
			}
			if overlap(l.Selector, ready.leaf.Selector) && ready.values.Within(v) {
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
func condition(a *analysis.Analysis, l analysis.Leaf) (v numbers.Values, ok bool) {
	if len(l.Via) > 1 {
		return v, false
	}
	v, ok, possible := through(a, l.Path, l.Selector, l.Selector, v, false)
	if possible && len(l.Via) == 1 {
		v, ok, possible = through(a, l.Above, l.At, l.Selector, v, ok)
	}
	return v, ok && possible
}

// through walks up from a part of an expression that stands for a selector. It returns the
// values that pass a comparison on the way, whether there was one, and whether a value that
// passes makes the whole expression true.
func through(a *analysis.Analysis, way *analysis.Trail, child parser.Node, of *parser.VectorSelector, v numbers.Values, compared bool) (numbers.Values, bool, bool) {
	for n := range way.Upwards() {
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
				v, compared = threshold(a, n, of)
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
func threshold(a *analysis.Analysis, n *parser.BinaryExpr, s *parser.VectorSelector) (v numbers.Values, ok bool) {
	c, ok := promexpr.WithConstant(n)
	return a.Outcome(s).Passing(c.Op, numbers.One(c.Limit)), ok
}

// overlap reports whether two selectors of the same metric can select the same series.
func overlap(a, b *parser.VectorSelector) bool {
	name := promexpr.MetricName(a)
	text, _ := syntax.Contradiction(slices.Concat(a.LabelMatchers, b.LabelMatchers))
	return name != "" && name == promexpr.MetricName(b) && text == ""
}
