package dashboards

import (
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

// comparison is a comparison in the expression of an alert.
type comparison struct {
	value, limit parser.Expr
	op           parser.ItemType
}

// comparisonOf returns the first comparison, from the left, that must be true for the
// expression to be true. It returns false if there is none.
func comparisonOf(expr parser.Expr) (comparison, bool) {
	b, ok := promexpr.Bare(expr).(*parser.BinaryExpr)
	if !ok {
		return comparison{}, false
	}
	switch {
	case b.Op == parser.LAND || b.Op == parser.LUNLESS:
		return comparisonOf(b.LHS)
	case !b.Op.IsComparisonOperator() || b.ReturnBool:
		return comparison{}, false
	}
	if first, ok := comparisonOf(b.LHS); ok {
		return first, true
	}
	c := comparison{b.LHS, b.RHS, b.Op}
	if isNumber(b.LHS) {
		c = comparison{b.RHS, b.LHS, promexpr.Mirror(b.Op)}
	}
	return c, !isNumber(c.value)
}

// isNumber reports whether an expression selects no series.
func isNumber(expr parser.Expr) bool { return len(parser.ExtractSelectors(expr)) == 0 }

// thresholds are the numbers with which shipped rules compare, by the rules' names.
type thresholds map[string]float64

// thresholdsOf returns those of some of the shipped rule files.
func thresholdsOf(shipped []*rules.File, names ...string) thresholds {
	found := thresholds{}
	for _, f := range shipped {
		if !slices.Contains(names, f.Name) {
			continue
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if c, ok := comparisonOf(r.AST); ok {
					if n, ok := promexpr.Constant(c.limit); ok {
						found[r.Alert] = n
					}
				}
			}
		}
	}
	return found
}

// number returns the threshold of a rule. It panics if the rule has none.
func (t thresholds) number(alert string) float64 {
	n, ok := t[alert]
	if !ok {
		panic("internal error: no shipped rule " + alert + " compares with a number")
	}
	return n
}

// line returns a query for the threshold of a rule, with its name as legend.
func (t thresholds) line(alert string) target {
	return limit("vector("+strconv.FormatFloat(t.number(alert), 'f', -1, 64)+")", alert)
}
