package explain

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxNodeText bounds the text of a node, in bytes.
	maxNodeText = 2000
	// maxRecordingDepth is how many recording rules are followed one through another.
	maxRecordingDepth = 3
)

// treeBuilder builds the tree of one rule.
type treeBuilder struct {
	*explainer
	// left is how many nodes may be added.
	left int
	// seen are the recording rules whose trees are part of the rule's.
	seen []*evaluator.Recording
}

// branch builds the tree of one expression: the rule's, or that of a recording rule
// below.
type branch struct {
	*treeBuilder
	// asOf is the time for which the expression is evaluated.
	asOf time.Time
	// parts are the texts of the parts before start() and end() were resolved.
	parts map[parser.Node]partText
	// depth counts the recording rules above.
	depth int
}

// partText is the text of a part of an expression, with its own parts and without.
type partText struct{ full, short string }

// branch builds the tree of an expression, which it parses anew: building changes it.
func (t *treeBuilder) branch(ctx context.Context, expr string, asOf time.Time, depth int) *Node {
	ast, err := parse(expr)
	if err != nil {
		return &Node{Expr: text.Clip(expr, maxNodeText), Error: text.Clip(err.Error(), maxErrorText)}
	}
	b := &branch{treeBuilder: t, asOf: asOf, parts: map[parser.Node]partText{}, depth: depth}
	parser.Inspect(ast, func(n parser.Node, _ []parser.Node) error {
		if n != nil {
			b.parts[n] = partText{text.Clip(n.String(), maxNodeText), short(n)}
		}
		return nil
	})
	resolve(ast, asOf.UnixMilli())
	return b.node(ctx, ast, asOf, above{})
}

// resolve replaces start() and end() by a time: a part of the expression may be
// evaluated as of another one.
func resolve(ast parser.Expr, at int64) {
	parser.Inspect(ast, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			if n.StartOrEnd != 0 {
				n.StartOrEnd, n.Timestamp = 0, &at
			}
		case *parser.SubqueryExpr:
			if n.StartOrEnd != 0 {
				n.StartOrEnd, n.Timestamp = 0, &at
			}
		}
		return nil
	})
}

// node explains an expression as of at.
func (b *branch) node(ctx context.Context, e parser.Expr, at time.Time, up above) *Node {
	e = promexpr.Bare(e)
	b.left--
	n := &Node{Expr: b.parts[e].full, Short: b.parts[e].short, Kind: kindOf(e), Type: string(e.Type())}
	if at.UnixMilli() != b.asOf.UnixMilli() {
		n.At = inUTC(at)
	}
	switch e := e.(type) {
	case *parser.NumberLiteral:
		n.Value = new(Number(e.Val))
	case *parser.StringLiteral: // Expr is its value
	case *parser.VectorSelector:
		b.selector(ctx, n, e, at, up)
	case *parser.MatrixSelector:
		b.ranges(ctx, n, e, at, up)
	case *parser.BinaryExpr:
		b.binary(ctx, n, e, at, up)
	case *parser.SubqueryExpr:
		f := b.evaluate(ctx, n, e, at, up)
		b.child(ctx, n, e.Expr, reference(at, e.Timestamp, e.OriginalOffset), f.below)
	default:
		f := b.evaluate(ctx, n, e, at, up)
		for _, child := range parser.Children(e) {
			if child, ok := child.(parser.Expr); ok {
				b.child(ctx, n, child, at, f.below)
			}
		}
	}
	return n
}

// short returns an expression without its parts.
func short(n parser.Node) string {
	switch n := n.(type) {
	case *parser.BinaryExpr:
		return n.ShortString()
	case *parser.AggregateExpr:
		return strings.TrimSpace(n.ShortString())
	case *parser.Call:
		return n.ShortString()
	case *parser.SubqueryExpr:
		return n.ShortString()
	case *parser.UnaryExpr:
		return n.ShortString()
	}
	return ""
}

func kindOf(e parser.Expr) string {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return KindSelector
	case *parser.MatrixSelector:
		return KindRange
	case *parser.SubqueryExpr:
		return KindSubquery
	case *parser.AggregateExpr:
		return KindAggregation
	case *parser.Call:
		return KindFunction
	case *parser.NumberLiteral:
		return KindNumber
	case *parser.StringLiteral:
		return KindString
	case *parser.BinaryExpr:
		switch {
		case e.Op.IsComparisonOperator():
			return KindComparison
		case e.Op.IsSetOperator():
			return KindSet
		}
	}
	return KindArithmetic
}

// child explains a part of n, unless the tree has too many nodes.
func (b *branch) child(ctx context.Context, n *Node, e parser.Expr, at time.Time, up above) *Node {
	if b.left <= 0 {
		n.Cut = true
		return nil
	}
	child := b.node(ctx, e, at, up)
	n.Children = append(n.Children, child)
	return child
}

// binary explains a comparison, a calculation or a set operation.
func (b *branch) binary(ctx context.Context, n *Node, e *parser.BinaryExpr, at time.Time, up above) {
	f := b.evaluate(ctx, n, e, at, up)
	scalar := func(e parser.Expr) bool { return e.Type() == parser.ValueTypeScalar }
	if !e.Op.IsComparisonOperator() || scalar(e.LHS) == scalar(e.RHS) {
		b.child(ctx, n, e.LHS, at, f.below)
		b.child(ctx, n, e.RHS, at, f.below)
		if e.Op.IsComparisonOperator() {
			n.Comparison = b.pairs(ctx, n, e, at)
		}
		return
	}
	c := &Comparison{Op: e.Op.String(), True: n.Count, Of: n.Count}
	n.Comparison = c
	if e.ReturnBool {
		c.True = f.ones
	}
	// The number first, as the elements are held against it.
	op, number, vector, swapped := e.Op, e.RHS, e.LHS, scalar(e.LHS)
	if swapped {
		op, number, vector = promexpr.Mirror(op), vector, number
	}
	limit := b.child(ctx, n, number, at, above{})
	if limit == nil {
		return
	}
	c.Threshold = limit.Value
	below := f.below
	if c.Threshold != nil {
		below.holds = func(v float64) bool { return promexpr.Holds(op, v, float64(*c.Threshold)) }
	}
	if elements := b.child(ctx, n, vector, at, below); elements != nil {
		c.Of = elements.Count
		if !swapped {
			slices.Reverse(n.Children)
		}
	}
}

// pairs counts for how many pairs of elements a comparison of two vectors, or of two
// numbers, holds.
func (b *branch) pairs(ctx context.Context, n *Node, e *parser.BinaryExpr, at time.Time) *Comparison {
	c := &Comparison{Op: e.Op.String(), True: n.Count, Of: n.Count}
	if n.Value != nil {
		c.Of, c.True = 1, int(*n.Value)
		return c
	}
	counting := *e
	counting.ReturnBool = true
	all := &Node{}
	if found := b.evaluate(ctx, all, &counting, at, above{}); all.Error == "" {
		c.True, c.Of = found.ones, all.Count
	}
	return c
}
