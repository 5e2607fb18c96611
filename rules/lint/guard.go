package lint

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// guards says whether a selector of the rule's own expression can only silence the rule
// when what it looks at is in trouble, as the last part does in
//
//	app_stuck == 1 and on () vitals_dependency_up{dependency="keystone"} == 1
//
// Such a rule asks whether a dependency is well before it blames the workload.
func (l leaf) guards(sources []Metric) bool {
	if slices.ContainsFunc(sources, func(m Metric) bool { return !m.Bool }) {
		return false
	}
	guard := false
	var child parser.Node = l.selector
	for _, n := range slices.Backward(l.above) {
		switch n := n.(type) {
		case *parser.BinaryExpr:
			right := child == n.RHS
			switch {
			case n.Op == parser.LAND:
				guard = guard || l.tells(n, right, 1)
			case n.Op == parser.LUNLESS && right:
				guard = !guard && l.tells(n, right, 0)
			}
		case *parser.Call:
			if guard && (isAbsent(n) || n.Func.Name == "scalar") {
				return false // nothing is something to them
			}
		}
		child = n
	}
	return guard
}

// tells says whether a side of a set operator compares the selector with a number, and
// the result is there exactly while the selector's value, 0 or 1, means well (1) or
// trouble (0).
func (l leaf) tells(b *parser.BinaryExpr, right bool, well float64) bool {
	if strings.HasSuffix(metricName(l.selector), "_failure") {
		well = 1 - well
	}
	side := b.LHS
	if right {
		side = b.RHS
	}
	c, ok := bare(side).(*parser.BinaryExpr)
	if !ok || c.ReturnBool || !c.Op.IsComparisonOperator() {
		return false
	}
	number, ok := bare(c.RHS).(*parser.NumberLiteral)
	if !ok || extreme(c.LHS) != parser.Expr(l.selector) {
		return false
	}
	return compares(c.Op, well, number.Val) && !compares(c.Op, 1-well, number.Val)
}

// bare returns an expression without parentheses.
func bare(e parser.Expr) parser.Expr {
	for {
		paren, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = paren.Expr
	}
}

// extreme returns the selector of which an expression is the least or the greatest value,
// or the expression.
func extreme(e parser.Expr) parser.Expr {
	for {
		switch n := bare(e).(type) {
		case *parser.AggregateExpr:
			if n.Op != parser.MIN && n.Op != parser.MAX {
				return n
			}
			e = n.Expr
		case *parser.Call:
			if !slices.Contains([]string{"min_over_time", "max_over_time", "last_over_time"}, n.Func.Name) {
				return n
			}
			e = n.Args[0]
		case *parser.MatrixSelector:
			e = n.VectorSelector
		default:
			return n
		}
	}
}

func compares(op parser.ItemType, a, b float64) bool {
	switch op {
	case parser.EQLC:
		return a == b
	case parser.NEQ:
		return a != b
	case parser.LSS:
		return a < b
	case parser.LTE:
		return a <= b
	case parser.GTR:
		return a > b
	case parser.GTE:
		return a >= b
	}
	return false
}
