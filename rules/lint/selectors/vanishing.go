package selectors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// vanishingSeries finds comparisons in rules with a state whose series can be absent while
// their collector works, without a policy for that case. The comparison then has no result,
// and Prometheus sends no alert.
func vanishingSeries(p *check.Pass) {
	v := absences{p.Analysis, map[string][]*parser.VectorSelector{}}
	v.find()
	absentIn := map[string]*syntax.Index[*parser.VectorSelector]{}
	unread := map[string]bool{} // states with an invalid rule, which may test absence
	for _, s := range p.Subjects {
		unread[s.Rule.State] = unread[s.Rule.State] || s.Mistaken() && s.Rule.Record == ""
		if s.Enforced() {
			absentIn[s.Rule.State] = absents(p.Analysis, s, absentIn[s.Rule.State])
		}
	}
	for _, s := range p.Subjects {
		if s.Rule.State == "" || s.Rule.AST == nil || s.Rule.Annotations["no_data"] != "" || unread[s.Rule.State] || unread[""] {
			continue
		}
		own := absents(p.Analysis, s, nil)
		tested := func(n *parser.VectorSelector) bool { return covered(own, n) || covered(absentIn[s.Rule.State], n) }
		var first *parser.VectorSelector
		var names []string
		severity := check.Info // while all of them come from other programs
		for _, l := range v.compared(s.Rule.AST) {
			if tested(l.at) || tested(l.selector) {
				continue
			}
			if ours := !foreign(p.Analysis, l.selector); first == nil || ours && severity == check.Info {
				first = l.at
				if ours {
					severity = p.Current.Severity
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
		if len(p.Recorded[promexpr.MetricName(first)]) > 0 {
			cure = "set the annotation no_data to fail, pass or hold, or record a series that is always present"
		}
		p.InExpr(s, first, cure,
			"a series of %s can be absent while everything works. Prometheus then sees no alert, and vitals reports the rule as unknown, which %s handles by its own no_data",
			strings.Join(names, ", "), s.Rule.State).Severity = severity
	}
}

// foreign reports whether a selector matches only series of other programs. It is unknown
// whether they are ever absent.
func foreign(a *analysis.Analysis, s *parser.VectorSelector) bool {
	known := func(m analysis.Metric) bool { return m.Name != "" }
	return len(a.Recorded[promexpr.MetricName(s)]) == 0 && !slices.ContainsFunc(a.Sources(s), known)
}

// absents adds the selectors whose absence a rule tests; to may be nil.
func absents(a *analysis.Analysis, s *analysis.Subject, to *syntax.Index[*parser.VectorSelector]) *syntax.Index[*parser.VectorSelector] {
	if to == nil {
		to = &syntax.Index[*parser.VectorSelector]{}
	}
	for _, l := range a.Leaves(s.Rule) {
		if l.Path.Contains(syntax.IsAbsent) {
			to.Add(l.Selector, l.Selector)
		}
	}
	return to
}

// covered reports whether a test of absence covers a selector.
func covered(tested *syntax.Index[*parser.VectorSelector], s *parser.VectorSelector) bool {
	if tested == nil {
		return false
	}
	for a := range tested.Like(s) {
		if covers(a, s) {
			return true
		}
	}
	return false
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

// absences finds the selectors whose series may be absent.
type absences struct {
	*analysis.Analysis
	// lacking holds the selectors of series that may be absent, by the recorded name that
	// depends on them.
	lacking map[string][]*parser.VectorSelector
}

// compared returns the selectors in comparisons whose series may be absent. The right side
// of unless is left out: an absent series there suppresses nothing.
func (v *absences) compared(e parser.Expr) []absence {
	switch n := e.(type) {
	case *parser.BinaryExpr:
		switch {
		case n.Op == parser.LUNLESS:
			return v.compared(n.LHS)
		case n.Op.IsComparisonOperator():
			return v.ofExpr(n)
		}
		return append(v.compared(n.LHS), v.compared(n.RHS)...)
	case *parser.Call:
		var all []absence
		for _, arg := range n.Args {
			all = append(all, v.compared(arg)...)
		}
		return all
	}
	if inner := syntax.Operand(e); inner != nil {
		return v.compared(inner)
	}
	return nil
}

// ofExpr returns the selectors whose absence can leave an expression without a result.
// Most operators need both sides. or needs one of them, and unless needs its left side.
func (v *absences) ofExpr(e parser.Expr) []absence {
	switch n := e.(type) {
	case *parser.VectorSelector:
		return v.ofSeries(n)
	case *parser.BinaryExpr:
		left := v.ofExpr(n.LHS)
		if n.Op == parser.LUNLESS || n.Op == parser.LOR && len(left) == 0 {
			return left
		}
		right := v.ofExpr(n.RHS)
		if n.Op == parser.LOR && len(right) == 0 {
			return nil
		}
		return append(left, right...)
	case *parser.Call:
		if syntax.IsAbsent(n) {
			return nil
		}
		var all []absence
		for _, arg := range n.Args {
			all = append(all, v.ofExpr(arg)...)
		}
		return all
	}
	if inner := syntax.Operand(e); inner != nil {
		return v.ofExpr(inner)
	}
	return nil
}

// ofSeries returns the reasons why the series of a selector may be absent: a recording rule
// filters them or uses such series itself, or their collector can drop them.
func (v *absences) ofSeries(n *parser.VectorSelector) []absence {
	var all []absence
	name := promexpr.MetricName(n)
	for _, inner := range v.lacking[name] {
		all = append(all, absence{n, inner})
	}
	vanishes := func(m analysis.Metric) bool { return m.Vanishes || m.Name == "" } // series of other programs may be absent at any time
	filtered := func(rec *analysis.Subject) bool { return rec.Rule.AST != nil && filters(rec.Rule.AST) }
	if slices.ContainsFunc(v.Recorded[name], filtered) || slices.ContainsFunc(v.Sources(n), vanishes) {
		all = append(all, absence{n, n})
	}
	return all
}

// find computes the selectors on which the recording rules depend and whose series
// may be absent. It keeps a few for each metric.
func (v *absences) find() {
	const enough = 8
	v.UntilStable(func(s *analysis.Subject) (changed bool) {
		known := v.lacking[s.Rule.Record]
		if s.Rule.AST == nil || len(known) >= enough {
			return false
		}
		for _, l := range v.ofExpr(s.Rule.AST) {
			same := func(n *parser.VectorSelector) bool { return promexpr.MetricName(n) == promexpr.MetricName(l.selector) }
			if !slices.ContainsFunc(known, same) {
				known, changed = append(known, l.selector), true
			}
		}
		v.lacking[s.Rule.Record] = known
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
		return syntax.IsAbsent(n) || slices.ContainsFunc(n.Args, filters)
	}
	inner := syntax.Operand(e)
	return inner != nil && filters(inner)
}
