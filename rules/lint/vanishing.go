package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// vanishingSeries finds comparisons in rules with a state whose series can be absent while
// their collector works, without a policy for that case. The comparison then has no result,
// and Prometheus sends no alert.
func vanishingSeries(p *pass) {
	p.findAbsences()
	absentIn := map[string]*selectorIndex[*parser.VectorSelector]{}
	unread := map[string]bool{} // states with an invalid rule, which may test absence
	for _, s := range p.subjects {
		unread[s.rule.State] = unread[s.rule.State] || s.mistaken() && s.rule.Record == ""
		if s.enforced() {
			absentIn[s.rule.State] = p.absents(s, absentIn[s.rule.State])
		}
	}
	for _, s := range p.subjects {
		if s.rule.State == "" || s.rule.AST == nil || s.rule.Annotations["no_data"] != "" || unread[s.rule.State] || unread[""] {
			continue
		}
		own := p.absents(s, nil)
		tested := func(n *parser.VectorSelector) bool { return covered(own, n) || covered(absentIn[s.rule.State], n) }
		var first *parser.VectorSelector
		var names []string
		severity := Info // while all of them come from other programs
		for _, l := range p.compared(s.rule.AST) {
			if tested(l.at) || tested(l.selector) {
				continue
			}
			if ours := !p.foreign(l.selector); first == nil || ours && severity == Info {
				first = l.at
				if ours {
					severity = p.current.Severity
				}
			}
			if name := promexpr.MetricName(l.at); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if first == nil {
			continue
		}
		cure := fmt.Sprintf(`set the annotation no_data to fail, pass or hold, or test for absence ("... or absent(%s)")`, first)
		if len(p.recorded[promexpr.MetricName(first)]) > 0 {
			cure = "set the annotation no_data to fail, pass or hold, or record a series that is always present"
		}
		p.inExpr(s, first, cure,
			"a series of %s can be absent while everything works. Prometheus then sees no alert, and vitals reports the rule as unknown, which %s handles by its own no_data",
			strings.Join(names, ", "), s.rule.State).Severity = severity
	}
}

// foreign reports whether a selector matches only series of other programs. It is unknown
// whether they are ever absent.
func (p *pass) foreign(s *parser.VectorSelector) bool {
	known := func(m Metric) bool { return m.Name != "" }
	return len(p.recorded[promexpr.MetricName(s)]) == 0 && !slices.ContainsFunc(p.sources(s), known)
}

// absents adds the selectors whose absence a rule tests; to may be nil.
func (p *pass) absents(s *subject, to *selectorIndex[*parser.VectorSelector]) *selectorIndex[*parser.VectorSelector] {
	if to == nil {
		to = &selectorIndex[*parser.VectorSelector]{}
	}
	for _, l := range p.leaves(s.rule) {
		if l.path.contains(isAbsent) {
			to.add(l.selector, l.selector)
		}
	}
	return to
}

// covered reports whether a test of absence covers a selector.
func covered(tested *selectorIndex[*parser.VectorSelector], s *parser.VectorSelector) bool {
	if tested == nil {
		return false
	}
	for a := range tested.like(s) {
		if covers(a, s) {
			return true
		}
	}
	return false
}

func isAbsent(n parser.Node) bool {
	c, ok := n.(*parser.Call)
	return ok && strings.HasPrefix(c.Func.Name, "absent")
}

// covers reports whether absent(a) can report the absence of series that b matches.
func covers(a, b *parser.VectorSelector) bool {
	if promexpr.MetricName(a) == "" || promexpr.MetricName(a) != promexpr.MetricName(b) {
		return false
	}
	for _, m := range a.LabelMatchers {
		for _, of := range b.LabelMatchers {
			if of.Name == m.Name && of.Type == labels.MatchEqual && !m.Matches(of.Value) {
				return false
			}
		}
	}
	return true
}

// absence is a selector whose series may be absent, in an expression or in a recording rule
// that it uses; at is the selector in the expression itself.
type absence struct{ at, selector *parser.VectorSelector }

// compared returns the selectors in comparisons whose series may be absent. The right side
// of unless is left out: an absent series there suppresses nothing.
func (p *pass) compared(e parser.Expr) []absence {
	switch n := e.(type) {
	case *parser.BinaryExpr:
		switch {
		case n.Op == parser.LUNLESS:
			return p.compared(n.LHS)
		case n.Op.IsComparisonOperator():
			return p.absences(n)
		}
		return append(p.compared(n.LHS), p.compared(n.RHS)...)
	case *parser.Call:
		var all []absence
		for _, arg := range n.Args {
			all = append(all, p.compared(arg)...)
		}
		return all
	}
	if inner := operand(e); inner != nil {
		return p.compared(inner)
	}
	return nil
}

// operand returns the only operand of an expression, or nil.
func operand(e parser.Expr) parser.Expr {
	switch n := e.(type) {
	case *parser.ParenExpr:
		return n.Expr
	case *parser.UnaryExpr:
		return n.Expr
	case *parser.StepInvariantExpr:
		return n.Expr
	case *parser.AggregateExpr:
		return n.Expr
	case *parser.SubqueryExpr:
		return n.Expr
	case *parser.MatrixSelector:
		return n.VectorSelector
	}
	return nil
}

// absences returns the selectors whose absence can leave an expression without a result.
// Most operators need both sides. or needs one of them, and unless needs its left side.
func (p *pass) absences(e parser.Expr) []absence {
	switch n := e.(type) {
	case *parser.VectorSelector:
		return p.absent(n)
	case *parser.BinaryExpr:
		left := p.absences(n.LHS)
		if n.Op == parser.LUNLESS || n.Op == parser.LOR && len(left) == 0 {
			return left
		}
		right := p.absences(n.RHS)
		if n.Op == parser.LOR && len(right) == 0 {
			return nil
		}
		return append(left, right...)
	case *parser.Call:
		if isAbsent(n) {
			return nil
		}
		var all []absence
		for _, arg := range n.Args {
			all = append(all, p.absences(arg)...)
		}
		return all
	}
	if inner := operand(e); inner != nil {
		return p.absences(inner)
	}
	return nil
}

// absent returns the reasons why the series of a selector may be absent: a recording rule
// filters them or uses such series itself, or their collector can drop them.
func (p *pass) absent(n *parser.VectorSelector) []absence {
	var all []absence
	name := promexpr.MetricName(n)
	for _, inner := range p.lacking[name] {
		all = append(all, absence{n, inner})
	}
	vanishes := func(m Metric) bool { return m.Vanishes || m.Name == "" } // series of other programs may be absent at any time
	filtered := func(rec *subject) bool { return rec.rule.AST != nil && filters(rec.rule.AST) }
	if slices.ContainsFunc(p.recorded[name], filtered) || slices.ContainsFunc(p.sources(n), vanishes) {
		all = append(all, absence{n, n})
	}
	return all
}

// findAbsences computes the selectors on which the recording rules depend and whose series
// may be absent. It keeps a few for each metric.
func (p *pass) findAbsences() {
	const enough = 8
	p.lacking = map[string][]*parser.VectorSelector{}
	p.untilStable(func(s *subject) (changed bool) {
		known := p.lacking[s.rule.Record]
		if s.rule.AST == nil || len(known) >= enough {
			return false
		}
		for _, l := range p.absences(s.rule.AST) {
			same := func(n *parser.VectorSelector) bool { return promexpr.MetricName(n) == promexpr.MetricName(l.selector) }
			if !slices.ContainsFunc(known, same) {
				known, changed = append(known, l.selector), true
			}
		}
		p.lacking[s.rule.Record] = known
		return changed
	})
}

// filters reports whether an expression drops samples depending on their value.
func filters(e parser.Expr) bool {
	switch n := e.(type) {
	case *parser.BinaryExpr:
		switch {
		case n.Op == parser.LOR:
			return filters(n.LHS) && filters(n.RHS)
		case n.Op.IsSetOperator():
			return true
		case n.Op.IsComparisonOperator() && !n.ReturnBool && n.Type() == parser.ValueTypeVector:
			return true
		}
		return filters(n.LHS) || filters(n.RHS)
	case *parser.Call:
		return isAbsent(n) || slices.ContainsFunc(n.Args, filters)
	}
	inner := operand(e)
	return inner != nil && filters(inner)
}
