package conditions

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// changingChoice finds alerts whose labels come from topk or bottomk. Whenever another
// series takes the place, the alert is a new one, and its "for" restarts.
func changingChoice(p *check.Pass, s *analysis.Subject) {
	if s.Rule.Alert == "" {
		return
	}
	if a := chosen(s.Rule.AST); a != nil {
		p.InExpr(s, a, "compare all series, and keep the choice for dashboards; max or min returns the extreme value",
			`%s chooses series, and the choice changes: each change creates a new alert, whose "for" restarts`, a.Op)
	}
}

// chosen returns the topk or bottomk whose choice decides the labels of a result, or nil.
func chosen(e parser.Expr) *parser.AggregateExpr {
	switch n := promexpr.Bare(e).(type) {
	case *parser.AggregateExpr:
		if (n.Op == parser.TOPK || n.Op == parser.BOTTOMK) && !deduplicates(n) {
			return n
		}
	case *parser.UnaryExpr:
		return chosen(n.Expr)
	case *parser.BinaryExpr:
		return chosenOfSides(n)
	case *parser.Call:
		if syntax.KeepsEverySeries(n.Func.Name) && len(n.Args) > 0 {
			return chosen(n.Args[0])
		}
	}
	return nil
}

// deduplicates reports whether topk chooses one of several equal series in each group: it is
// used over an aggregation, which has left few labels.
func deduplicates(n *parser.AggregateExpr) bool {
	of := promexpr.Bare(n.Expr)
	if c, ok := of.(*parser.BinaryExpr); ok && c.Op.IsComparisonOperator() {
		of = promexpr.Bare(c.LHS)
	}
	_, ok := of.(*parser.AggregateExpr)
	return ok && len(n.Grouping) > 0
}

// chosenOfSides returns that of a side whose labels the result has. In a join, the one side
// often needs topk to have one series for each match, and its labels do not remain.
func chosenOfSides(n *parser.BinaryExpr) *parser.AggregateExpr {
	left, right := chosen(n.LHS), chosen(n.RHS)
	m := n.VectorMatching
	switch {
	case m == nil || n.Op == parser.LOR:
		if left == nil {
			return right
		}
	case m.Card == parser.CardOneToMany:
		return right
	case m.Card == parser.CardOneToOne && (m.On || len(m.MatchingLabels) > 0) && left != nil && len(left.Grouping) > 0:
		return nil
	}
	return left
}
