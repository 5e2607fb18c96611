// Package promexpr inspects parsed PromQL expressions for several packages: the metric
// of a selector, the value of a constant, the sides of a comparison.
package promexpr

import (
	"math"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// MetricName returns the one metric name that a selector can match, or "".
func MetricName(s *parser.VectorSelector) string {
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

// Bare returns an expression without parentheses and without the engine's wrapper for
// step-invariant expressions.
func Bare(e parser.Expr) parser.Expr {
	for {
		switch n := e.(type) {
		case *parser.ParenExpr:
			e = n.Expr
		case *parser.StepInvariantExpr:
			e = n.Expr
		default:
			return e
		}
	}
}

// Constant returns the value of an expression that consists of numbers. ok is false for
// any other expression, and for NaN.
func Constant(e parser.Expr) (v float64, ok bool) {
	v = constant(e)
	return v, !math.IsNaN(v)
}

func constant(e parser.Expr) float64 {
	switch n := Bare(e).(type) {
	case *parser.NumberLiteral:
		return n.Val
	case *parser.UnaryExpr:
		if n.Op == parser.SUB {
			return -constant(n.Expr)
		}
		return constant(n.Expr)
	case *parser.BinaryExpr:
		return Calculate(n.Op, constant(n.LHS), constant(n.RHS))
	}
	return math.NaN()
}

// Calculate returns the result of an arithmetic operation, and NaN for any other operator.
func Calculate(op parser.ItemType, x, y float64) float64 {
	switch op {
	case parser.ADD:
		return x + y
	case parser.SUB:
		return x - y
	case parser.MUL:
		return x * y
	case parser.DIV:
		return x / y
	case parser.MOD:
		return math.Mod(x, y)
	case parser.POW:
		return math.Pow(x, y)
	case parser.ATAN2:
		return math.Atan2(x, y)
	}
	return math.NaN()
}

// Holds reports whether a comparison of two numbers is true. It is false for any other
// operator.
func Holds(op parser.ItemType, x, y float64) bool {
	switch op {
	case parser.EQLC:
		return x == y
	case parser.NEQ:
		return x != y
	case parser.LSS:
		return x < y
	case parser.LTE:
		return x <= y
	case parser.GTR:
		return x > y
	case parser.GTE:
		return x >= y
	}
	return false
}

// Mirror returns the comparison with its sides swapped, such as > for <.
func Mirror(op parser.ItemType) parser.ItemType {
	switch op {
	case parser.LSS:
		return parser.GTR
	case parser.LTE:
		return parser.GTE
	case parser.GTR:
		return parser.LSS
	case parser.GTE:
		return parser.LTE
	}
	return op
}

// Comparison is a comparison of an expression with a constant, with the constant on the
// right.
type Comparison struct {
	Expr  parser.Expr
	Op    parser.ItemType
	Limit float64
}

// WithConstant returns the comparison of an expression with a constant on either side. ok
// is false if no side is constant or if the operation is no comparison.
func WithConstant(b *parser.BinaryExpr) (c Comparison, ok bool) {
	if !b.Op.IsComparisonOperator() {
		return Comparison{}, false
	}
	if limit, ok := Constant(b.RHS); ok {
		return Comparison{b.LHS, b.Op, limit}, true
	}
	limit, ok := Constant(b.LHS)
	return Comparison{b.RHS, Mirror(b.Op), limit}, ok
}
