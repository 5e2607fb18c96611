package promexpr

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
)

// NewParser returns a parser with the options of Prometheus' default configuration. The
// whole program uses it, so that all parts accept the same expressions.
func NewParser() parser.Parser {
	return bounded{parser.NewParser(parser.Options{ExperimentalDurationExpr: true})}
}

// bounded is a parser that refuses an expression beyond maxNesting or maxOperators before it parses
// it: the time that Prometheus' parser takes grows with the square of the depth of the tree.
type bounded struct{ parser.Parser }

// ParseExpr implements parser.Parser.
func (b bounded) ParseExpr(text string) (parser.Expr, error) {
	if err := excess(text); err != nil {
		return nil, err
	}
	return b.Parser.ParseExpr(text)
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

// ParseForeign parses an expression for another server, which decides on the experimental features
// that it has. Durations are not computed.
func ParseForeign(text string) (parser.Expr, error) {
	return bounded{parser.NewParser(parser.Options{
		EnableExperimentalFunctions: true, ExperimentalDurationExpr: true,
		EnableExtendedRangeSelectors: true, EnableBinopFillModifiers: true,
	})}.ParseExpr(text)
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

const (
	// maxNesting bounds the brackets in each other in an expression.
	maxNesting = 100
	// maxOperators bounds the operators of an expression, with its signs: a chain of operators is as deep as
	// it is long. The parser takes 0.03 s for 2,000 signs, and 5 s for 30,000.
	maxOperators = 2000
)

// excess returns the error of the first bracket or operator beyond a bound, nil without one.
func excess(text string) error {
	lexer, depth, operators := parser.Lex(text), 0, 0
	for {
		var item parser.Item
		lexer.NextItem(&item)
		switch item.Typ {
		case parser.EOF, parser.ERROR: // the parser reports it
			return nil
		case parser.LEFT_PAREN, parser.LEFT_BRACKET, parser.LEFT_BRACE:
			depth++
		case parser.RIGHT_PAREN, parser.RIGHT_BRACKET, parser.RIGHT_BRACE:
			depth--
		}
		if item.Typ.IsOperator() {
			operators++
		}
		var err error
		switch {
		case depth > maxNesting:
			err = fmt.Errorf("nested deeper than %d levels: split it with recording rules", maxNesting)
		case operators > maxOperators:
			err = fmt.Errorf("more than %d operators: split it with recording rules", maxOperators)
		default:
			continue
		}
		return parser.ParseErrors{{PositionRange: posrange.PositionRange{Start: item.Pos, End: item.Pos + 1}, Query: text, Err: err}}
	}
}
