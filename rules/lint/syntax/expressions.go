package syntax

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Short returns the text of an expression, shortened for a message.
func Short(e parser.Expr) string { return Quoted(promexpr.Bare(e).String()) }

// Quoted returns a text, shortened for a message.
func Quoted(text string) string {
	const limit = 80
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "..."
	}
	return text
}

// KeepsEverySeries reports whether a function has a result for each series of its argument.
func KeepsEverySeries(function string) bool {
	return slices.Contains(strings.Fields(`
		abs acos acosh asin asinh atan atanh ceil cos cosh deg exp floor ln log10 log2 rad round sgn sin sinh sqrt tan tanh
		clamp_max clamp_min timestamp label_replace label_join sort sort_desc
		minute hour day_of_week day_of_month day_of_year days_in_month month year
		avg_over_time min_over_time max_over_time sum_over_time count_over_time last_over_time first_over_time
		present_over_time quantile_over_time stddev_over_time stdvar_over_time changes resets
		rate increase irate delta idelta deriv predict_linear`), function)
}

// Extreme returns the selector whose minimum or maximum the expression is. If it is none,
// it returns the expression without its aggregations.
func Extreme(e parser.Expr) parser.Expr {
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

// KeepsLabels reports whether an aggregation selects samples without changing their labels.
func KeepsLabels(op parser.ItemType) bool {
	switch op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return true
	}
	return false
}

// Counted returns the label that count_values adds, or "".
func Counted(n *parser.AggregateExpr) string {
	if n.Op == parser.COUNT_VALUES {
		return Literal(n.Param)
	}
	return ""
}

// Literal returns the value of a string literal, or "".
func Literal(e parser.Expr) string {
	if s, ok := promexpr.Bare(e).(*parser.StringLiteral); ok {
		return s.Val
	}
	return ""
}

// Nodes calls do for every node of an expression.
func Nodes(e parser.Expr, do func(parser.Node)) {
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if n != nil {
			do(n)
		}
		return nil
	})
}

// Selectors returns the selectors of an expression; none for nil.
func Selectors(e parser.Expr) []*parser.VectorSelector {
	if e == nil {
		return nil
	}
	var all []*parser.VectorSelector
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			all = append(all, s)
		}
		return nil
	})
	return all
}

// IsAbsent reports whether a node is a call of absent or absent_over_time.
func IsAbsent(n parser.Node) bool {
	c, ok := n.(*parser.Call)
	return ok && strings.HasPrefix(c.Func.Name, "absent")
}

// Operand returns the only operand of an expression, or nil.
func Operand(e parser.Expr) parser.Expr {
	switch n := e.(type) {
	case *parser.ParenExpr:
		return n.Expr
	case *parser.UnaryExpr:
		return n.Expr
	case *parser.StepInvariantExpr:
		return n.Expr
	case *parser.AggregateExpr:
		return n.Expr
	case *parser.SubqueryExpr:
		return n.Expr
	case *parser.MatrixSelector:
		return n.VectorSelector
	}
	return nil
}
