package lint

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// guards reports whether a selector of the rule's own expression can only suppress the rule
// while a dependency fails, as the last part does in
//
//	app_stuck == 1 and on () vitals_dependency_up{dependency="keystone"} == 1
//
// Such a rule excludes a failing dependency before it reports the workload.
func (l leaf) guards(sources []Metric) bool {
	if slices.ContainsFunc(sources, func(m Metric) bool { return !m.Bool }) {
		return false
	}
	guard := false
	var child parser.Node = l.selector
	for n := range l.above.upwards() {
		switch n := n.(type) {
		case *parser.BinaryExpr:
			right := child == n.RHS
			switch {
			case n.Op == parser.LAND:
				guard = guard || l.presentOnlyAt(n, right, 1)
			case n.Op == parser.LUNLESS && right:
				guard = !guard && l.presentOnlyAt(n, right, 0)
			}
		case *parser.Call:
			if guard && (isAbsent(n) || n.Func.Name == "scalar") {
				return false // they have a result when their argument has none
			}
		}
		child = n
	}
	return guard
}

// presentOnlyAt reports whether a side of a set operator compares the selector with a
// number so that it has a result only if the selector's value, 0 or 1, is the given one.
// For metrics that end in _failure the value is inverted.
func (l leaf) presentOnlyAt(b *parser.BinaryExpr, right bool, value float64) bool {
	if strings.HasSuffix(promexpr.MetricName(l.selector), "_failure") {
		value = 1 - value
	}
	side := b.LHS
	if right {
		side = b.RHS
	}
	c, ok := promexpr.Bare(side).(*parser.BinaryExpr)
	if !ok || c.ReturnBool || !c.Op.IsComparisonOperator() {
		return false
	}
	number, ok := promexpr.Constant(c.RHS)
	if !ok || extreme(c.LHS) != parser.Expr(l.selector) {
		return false
	}
	return promexpr.Holds(c.Op, value, number) && !promexpr.Holds(c.Op, 1-value, number)
}

// extreme returns the selector whose minimum or maximum the expression is. If it is none,
// it returns the expression without its aggregations.
func extreme(e parser.Expr) parser.Expr {
	for {
		switch n := promexpr.Bare(e).(type) {
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
