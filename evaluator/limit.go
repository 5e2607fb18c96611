package evaluator

import (
	"math"

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

// Nearer reports whether a value is nearer to making the rule fail than another.
func (l Limit) Nearer(value, other float64) bool {
	switch l.Op {
	case "<", "<=":
		return value < other
	case "==":
		return math.Abs(value-l.Value) < math.Abs(other-l.Value)
	case "!=":
		return math.Abs(value-l.Value) > math.Abs(other-l.Value)
	}
	return value > other
}
