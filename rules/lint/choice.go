package lint

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// changingChoice finds alerts whose labels come from topk or bottomk. Whenever another
// series takes the place, the alert is a new one, and its "for" restarts.
func changingChoice(p *pass, s *subject) {
	if s.rule.Alert == "" {
		return
	}
	if a := chosen(s.rule.AST); a != nil {
		p.inExpr(s, a, "compare all series, and keep the choice for dashboards; max or min returns the extreme value",
			`%s chooses series, and the choice changes: each change creates a new alert, whose "for" restarts`, a.Op)
	}
}

// chosen returns the topk or bottomk whose choice decides the labels of a result, or nil.
func chosen(e parser.Expr) *parser.AggregateExpr {
	switch n := promexpr.Bare(e).(type) {
	case *parser.AggregateExpr:
		if n.Op == parser.TOPK || n.Op == parser.BOTTOMK {
			return n
		}
	case *parser.UnaryExpr:
		return chosen(n.Expr)
	case *parser.BinaryExpr:
		return chosenOfSides(n)
	case *parser.Call:
		if keepsEverySeries(n.Func.Name) && len(n.Args) > 0 {
			return chosen(n.Args[0])
		}
	}
	return nil
}

// chosenOfSides returns that of a side whose labels the result has.
func chosenOfSides(n *parser.BinaryExpr) *parser.AggregateExpr {
	if a := chosen(n.LHS); a != nil {
		return a
	}
	if n.Op == parser.LAND || n.Op == parser.LUNLESS {
		return nil
	}
	return chosen(n.RHS)
}
