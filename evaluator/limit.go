package evaluator

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Limit is the number that a rule compares what it observes with.
type Limit struct {
	// Op is the comparison that makes the rule fail, with what is observed on its left:
	// one of == != < <= > >=.
	Op    string
	Value float64
}

// limitOf returns the limit of an expression that compares a vector with a number, and nil
// for any other: a comparison of two vectors may have another limit for each element.
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
