package evaluator

import (
	"math"

	"github.com/prometheus/prometheus/promql/parser"
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
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return limitOf(e.Expr)
	case *parser.StepInvariantExpr:
		return limitOf(e.Expr)
	case *parser.BinaryExpr:
		if !e.Op.IsComparisonOperator() || e.ReturnBool {
			return nil
		}
		if v := constant(e.RHS); !math.IsNaN(v) {
			return &Limit{e.Op.String(), v}
		}
		if v := constant(e.LHS); !math.IsNaN(v) {
			return &Limit{mirrored(e.Op.String()), v}
		}
	}
	return nil
}

// mirrored returns the operator for exchanged sides.
func mirrored(op string) string {
	switch op {
	case "<", "<=":
		return ">" + op[1:]
	case ">", ">=":
		return "<" + op[1:]
	}
	return op
}

// constant returns the value of an expression of numbers, and NaN for any other.
func constant(expr parser.Expr) float64 {
	switch e := expr.(type) {
	case *parser.NumberLiteral:
		return e.Val
	case *parser.ParenExpr:
		return constant(e.Expr)
	case *parser.StepInvariantExpr:
		return constant(e.Expr)
	case *parser.UnaryExpr:
		if e.Op == parser.SUB {
			return -constant(e.Expr)
		}
		return constant(e.Expr)
	case *parser.BinaryExpr:
		left, right := constant(e.LHS), constant(e.RHS)
		switch e.Op {
		case parser.ADD:
			return left + right
		case parser.SUB:
			return left - right
		case parser.MUL:
			return left * right
		case parser.DIV:
			return left / right
		}
	}
	return math.NaN()
}
