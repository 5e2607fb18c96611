package selectors

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// guards reports whether a selector of the rule's own expression can only suppress the rule
// while a dependency fails, as the last part does in
//
//	app_stuck == 1 and on () vitals_dependency_up{dependency="keystone"} == 1
//
// Such a rule excludes a failing dependency before it reports the workload.
func guards(l analysis.Leaf, sources []analysis.Metric) bool {
	if slices.ContainsFunc(sources, func(m analysis.Metric) bool { return !m.Bool }) {
		return false
	}
	guard := false
	var child parser.Node = l.Selector
	for n := range l.Above.Upwards() {
		switch n := n.(type) {
		case *parser.BinaryExpr:
			right := child == n.RHS
			switch {
			case n.Op == parser.LAND:
				guard = guard || presentOnlyAt(l, n, right, 1)
			case n.Op == parser.LUNLESS && right:
				guard = !guard && presentOnlyAt(l, n, right, 0)
			}
		case *parser.Call:
			if guard && (syntax.IsAbsent(n) || n.Func.Name == "scalar") {
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
func presentOnlyAt(l analysis.Leaf, b *parser.BinaryExpr, right bool, value float64) bool {
	if strings.HasSuffix(promexpr.MetricName(l.Selector), "_failure") {
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
	if !ok || syntax.Extreme(c.LHS) != parser.Expr(l.Selector) {
		return false
	}
	return promexpr.Holds(c.Op, value, number) && !promexpr.Holds(c.Op, 1-value, number)
}
