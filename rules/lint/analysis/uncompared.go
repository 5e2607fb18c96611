package analysis

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Uncompared returns a selector whose series alone, at any value, give an expression a
// result. It returns nil if the result depends on a value, or if that is unknown: some
// programs export a series only while something is wrong.
func (a *Analysis) Uncompared(e parser.Expr) *parser.VectorSelector {
	switch n := promexpr.Bare(e).(type) {
	case *parser.VectorSelector:
		return a.uncomparedSeries(n)
	case *parser.BinaryExpr:
		return a.uncomparedSides(n)
	case *parser.AggregateExpr:
		if n.Op == parser.COUNT || n.Op == parser.GROUP || n.Op == parser.COUNT_VALUES {
			return nil
		}
	case *parser.Call:
		if i := measuring(n); i >= 0 {
			return a.Uncompared(n.Args[i])
		}
		return nil
	}
	if inner := syntax.Operand(promexpr.Bare(e)); inner != nil {
		return a.Uncompared(inner)
	}
	return nil
}

// measuring returns the index of the argument for each series of which a call returns a
// result, or -1 if there is none.
func measuring(n *parser.Call) int {
	presence := []string{"present_over_time", "count_over_time"}
	if !syntax.KeepsEverySeries(n.Func.Name) && !slices.Contains([]string{"clamp", "histogram_quantile"}, n.Func.Name) || slices.Contains(presence, n.Func.Name) {
		return -1
	}
	return slices.IndexFunc(n.Args, func(arg parser.Expr) bool {
		return arg.Type() == parser.ValueTypeVector || arg.Type() == parser.ValueTypeMatrix
	})
}

// uncomparedSides returns the selector of an operation. and and unless test presence.
func (a *Analysis) uncomparedSides(n *parser.BinaryExpr) *parser.VectorSelector {
	if n.Op == parser.LAND || n.Op == parser.LUNLESS || n.Op.IsComparisonOperator() && !n.ReturnBool {
		return nil
	}
	left, right := a.Uncompared(n.LHS), a.Uncompared(n.RHS)
	switch {
	case left == nil && (n.Op == parser.LOR || n.LHS.Type() == parser.ValueTypeScalar):
		return right
	case right == nil && n.Op != parser.LOR && n.RHS.Type() != parser.ValueTypeScalar:
		return nil
	}
	return left
}

// uncomparedSeries returns the selector itself if its series can have any value.
func (a *Analysis) uncomparedSeries(s *parser.VectorSelector) *parser.VectorSelector {
	name := promexpr.MetricName(s)
	switch {
	case name == "" || OfAlerts(name) || announces(name):
		return nil
	case strings.Contains(name, ":") && len(a.Recorded[name]) == 0: // recorded elsewhere, perhaps with a comparison
		return nil
	case !a.recordsAnyValue(name):
		return nil
	}
	return s
}

// recordsAnyValue reports whether no rule that records a name compares anything. Rules that
// use themselves count as comparing.
func (a *Analysis) recordsAnyValue(name string) bool {
	if known, ok := a.anyValue[name]; ok {
		return known
	}
	a.anyValue[name] = false
	a.anyValue[name] = !slices.ContainsFunc(a.Recorded[name], func(rec *Subject) bool {
		return rec.Rule.AST == nil || a.Uncompared(rec.Rule.AST) == nil
	})
	return a.anyValue[name]
}

// announces reports whether the series of a metric of another program may be present only
// while something is wrong, by its name: the value of such a metric is constant.
func announces(name string) bool {
	words := []string{"info", "metadata", "labels", "annotations", "alarm", "alert", "health_detail"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
