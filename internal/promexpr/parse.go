package promexpr

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// NewParser returns a parser with the options of Prometheus' default configuration. The
// whole program uses it, so that all parts accept the same expressions.
func NewParser() parser.Parser {
	return parser.NewParser(parser.Options{ExperimentalDurationExpr: true})
}

// Parse parses an expression and computes its durations, such as [5m * 2], as the engine
// does for an instant query.
func Parse(text string) (parser.Expr, error) {
	expr, err := NewParser().ParseExpr(text)
	if err != nil || !slices.ContainsFunc(timed(expr), computed) {
		return expr, err
	}
	again, err := NewParser().ParseExpr(text) // the engine also rewrites the tree
	if err != nil {
		return nil, err
	}
	prepared, err := promql.PreprocessExpr(again, time.Time{}, time.Time{}, 0)
	if err != nil {
		return nil, err
	}
	from := timed(prepared)
	for i, n := range timed(expr) {
		copyDurations(n, from[i])
	}
	return expr, nil
}

// timed returns the nodes of an expression that have a duration, in a fixed order.
func timed(expr parser.Expr) []parser.Node {
	var all []parser.Node
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n.(type) {
		case *parser.VectorSelector, *parser.MatrixSelector, *parser.SubqueryExpr:
			all = append(all, n)
		}
		return nil
	})
	return all
}

// computed reports whether a duration of the node is an expression.
func computed(n parser.Node) bool {
	switch n := n.(type) {
	case *parser.VectorSelector:
		return n.OriginalOffsetExpr != nil
	case *parser.MatrixSelector:
		return n.RangeExpr != nil
	case *parser.SubqueryExpr:
		return n.RangeExpr != nil || n.StepExpr != nil || n.OriginalOffsetExpr != nil
	}
	return false
}

func copyDurations(to, from parser.Node) {
	switch to := to.(type) {
	case *parser.VectorSelector:
		to.OriginalOffset = from.(*parser.VectorSelector).OriginalOffset
	case *parser.MatrixSelector:
		to.Range = from.(*parser.MatrixSelector).Range
	case *parser.SubqueryExpr:
		s := from.(*parser.SubqueryExpr)
		to.Range, to.Step, to.OriginalOffset = s.Range, s.Step, s.OriginalOffset
	}
}
