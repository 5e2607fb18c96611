package promexpr

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
)

// NewParser returns a parser with the options of Prometheus' default configuration. The
// whole program uses it, so that all parts accept the same expressions.
func NewParser() parser.Parser {
	return parser.NewParser(parser.Options{ExperimentalDurationExpr: true})
}

// Parse parses an expression and computes its durations, such as [5m * 2], as the engine
// does for an instant query. It returns an error for an expression that is nested too deeply.
func Parse(text string) (parser.Expr, error) {
	if err := nestingError(text); err != nil {
		return nil, err
	}
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

// ParseForeign parses an expression for another server, which decides on the experimental features
// that it has. Durations are not computed.
func ParseForeign(text string) (parser.Expr, error) {
	if err := nestingError(text); err != nil {
		return nil, err
	}
	p := parser.NewParser(parser.Options{
		EnableExperimentalFunctions: true, ExperimentalDurationExpr: true,
		EnableExtendedRangeSelectors: true, EnableBinopFillModifiers: true,
	})
	return p.ParseExpr(text)
}

// nestingError returns the error of an expression that is nested too deeply, nil for any other.
func nestingError(text string) error {
	at := tooDeep(text)
	if at < 0 {
		return nil
	}
	return parser.ParseErrors{{
		PositionRange: posrange.PositionRange{Start: posrange.Pos(at), End: posrange.Pos(at + 1)}, Query: text,
		Err: fmt.Errorf("nested deeper than %d levels: split it with recording rules", maxNesting),
	}}
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

// maxNesting bounds the brackets in each other in an expression.
const maxNesting = 100

// tooDeep returns the offset of the bracket that exceeds maxNesting, or -1. Brackets in strings
// and comments do not count.
func tooDeep(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				return i
			}
		case ')', ']', '}':
			depth--
		case '"', '\'', '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
		case '#':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return -1
			}
			i += end
		}
	}
	return -1
}
