package evaluator

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Limit is the number with which a rule compares its value.
type Limit struct {
	// Op is the comparison that makes the rule fail, with the value on its left: one of
	// == != < <= > >=.
	Op    string
	Value float64
}

// limitOf returns the limit of an expression that compares a vector with a number. It is
// nil for any other: where two vectors are compared, every element has its own limit.
func limitOf(expr parser.Expr) *Limit {
	b, ok := promexpr.Bare(expr).(*parser.BinaryExpr)
	if !ok || b.ReturnBool {
		return nil
	}
	c, ok := promexpr.WithConstant(b)
	if !ok {
		return nil
	}
	return &Limit{c.Op.String(), c.Limit}
}
