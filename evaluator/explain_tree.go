package evaluator

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

const (
	// maxNodeText bounds the text of a node, in bytes.
	maxNodeText = 2000
	// maxNodeSeries bounds the elements of a node that are shown.
	maxNodeSeries = 10
	// maxRecordingDepth is how many recording rules are followed one through another.
	maxRecordingDepth = 3
)

// treeBuilder builds the tree of one rule.
type treeBuilder struct {
	*explainer
	// left is how many nodes there may still be.
	left int
	// seen are the recording rules whose trees stand in the rule's.
	seen []*recording
}

// branch builds the tree of one expression: the rule's, or that of a recording rule
// below.
type branch struct {
	*treeBuilder
	// asOf is the moment that the expression looks at.
	asOf time.Time
	// text are the parts as they were written.
	text map[parser.Node]partText
	// depth counts the recording rules above.
	depth int
}

// partText is a part of an expression, with its own parts and without.
type partText struct{ full, short string }

// build parses an expression for itself, because it changes what it parsed.
func (t *treeBuilder) build(ctx context.Context, expr string, asOf time.Time) *Node {
	return t.branch(ctx, expr, asOf, 0)
}

func (t *treeBuilder) branch(ctx context.Context, expr string, asOf time.Time, depth int) *Node {
	ast, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return &Node{Expr: clip(expr, maxNodeText), Error: bound(err.Error())}
	}
	b := &branch{treeBuilder: t, asOf: asOf, text: map[parser.Node]partText{}, depth: depth}
	parser.Inspect(ast, func(n parser.Node, _ []parser.Node) error {
		if n != nil {
			b.text[n] = partText{clip(n.String(), maxNodeText), short(n)}
		}
		return nil
	})
	resolve(ast, asOf.UnixMilli())
	return b.node(ctx, ast, asOf, nil)
}

// resolve puts a time in the place of start() and end(): a part of the expression may
// be evaluated as of another one.
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

// bare is an expression without what stands around it and means nothing.
func bare(e parser.Expr) parser.Expr {
	for {
		switch n := e.(type) {
		case *parser.ParenExpr:
			e = n.Expr
		case *parser.StepInvariantExpr:
			e = n.Expr
		default:
			return e
		}
	}
}

// node explains an expression as of at. Where a comparison with a number stands above,
// holds says for which values it holds.
func (b *branch) node(ctx context.Context, e parser.Expr, at time.Time, holds func(float64) bool) *Node {
	e = bare(e)
	b.left--
	n := &Node{Expr: b.text[e].full, Short: b.text[e].short, Kind: kindOf(e), Type: string(e.Type())}
	if at.UnixMilli() != b.asOf.UnixMilli() {
		n.At = inUTC(at)
	}
	switch e := e.(type) {
	case *parser.NumberLiteral:
		n.Value = new(Number(e.Val))
	case *parser.StringLiteral: // the text says it
	case *parser.VectorSelector:
		b.selector(ctx, n, e, at, holds)
	case *parser.MatrixSelector:
		b.ranges(ctx, n, e, at)
	case *parser.BinaryExpr:
		b.binary(ctx, n, e, at, holds)
	case *parser.SubqueryExpr:
		b.evaluate(ctx, n, e, at, nil)
		b.child(ctx, n, e.Expr, time.UnixMilli(reference(at.UnixMilli(), e.Timestamp, e.OriginalOffset)), nil)
	default:
		b.evaluate(ctx, n, e, at, holds)
		for _, child := range parser.Children(e) {
			if child, ok := child.(parser.Expr); ok {
				b.child(ctx, n, child, at, nil)
			}
		}
	}
	return n
}

// short is what an expression is without its parts.
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

// child explains a part of n, if there is room for it.
func (b *branch) child(ctx context.Context, n *Node, e parser.Expr, at time.Time, holds func(float64) bool) *Node {
	if b.left <= 0 {
		n.Cut = true
		return nil
	}
	child := b.node(ctx, e, at, holds)
	n.Children = append(n.Children, child)
	return child
}

// binary explains a comparison, a calculation or a set operation.
func (b *branch) binary(ctx context.Context, n *Node, e *parser.BinaryExpr, at time.Time, holds func(float64) bool) {
	ones := b.evaluate(ctx, n, e, at, holds).ones
	scalar := func(e parser.Expr) bool { return e.Type() == parser.ValueTypeScalar }
	if !e.Op.IsComparisonOperator() || scalar(e.LHS) == scalar(e.RHS) {
		b.child(ctx, n, e.LHS, at, nil)
		b.child(ctx, n, e.RHS, at, nil)
		if e.Op.IsComparisonOperator() {
			n.Comparison = b.pairs(ctx, n, e, at)
		}
		return
	}
	c := &Comparison{Op: e.Op.String(), True: n.Count, Of: n.Count}
	n.Comparison = c
	if e.ReturnBool {
		c.True = ones
	}
	// The number first, as the elements are held against it.
	number, vector, swapped := e.RHS, e.LHS, scalar(e.LHS)
	if swapped {
		number, vector = vector, number
	}
	limit := b.child(ctx, n, number, at, nil)
	if limit == nil {
		return
	}
	c.Threshold = limit.Value
	var above func(float64) bool
	if c.Threshold != nil {
		above = func(v float64) bool { return compare(e.Op, v, float64(*c.Threshold), swapped) }
	}
	if elements := b.child(ctx, n, vector, at, above); elements != nil {
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
	asked := *e
	asked.ReturnBool = true
	all := &Node{}
	if found := b.evaluate(ctx, all, &asked, at, nil); all.Error == "" {
		c.True, c.Of = found.ones, all.Count
	}
	return c
}

// compare says whether a comparison of an element with a number holds. It is swapped
// where the number stands on the left.
func compare(op parser.ItemType, v, limit float64, swapped bool) bool {
	if swapped {
		v, limit = limit, v
	}
	switch op {
	case parser.EQLC:
		return v == limit
	case parser.NEQ:
		return v != limit
	case parser.GTR:
		return v > limit
	case parser.LSS:
		return v < limit
	case parser.GTE:
		return v >= limit
	}
	return v <= limit
}

// found is what else an evaluation found out.
type found struct {
	// shown are the labels of the node's series.
	shown []labels.Labels
	// ones is how many elements of a vector are 1.
	ones int
}

// evaluate asks the engine for an expression's value, as of at.
func (b *branch) evaluate(ctx context.Context, n *Node, e parser.Expr, at time.Time, holds func(float64) bool) (f found) {
	err := b.core.query.run(ctx, e.String(), at, func(v parser.Value) error {
		switch v := v.(type) {
		case promql.Scalar:
			n.Value = new(Number(v.V))
		case promql.Vector:
			f = n.vector(v, holds)
		case promql.Matrix:
			f = n.matrix(v)
		}
		return nil
	})
	if err != nil {
		n.Error = bound(err.Error())
	}
	return f
}

// vector shows the first elements of a vector.
func (n *Node) vector(v promql.Vector, holds func(float64) bool) (f found) {
	n.Count = len(v)
	for _, s := range v {
		if s.F == 1 {
			f.ones++
		}
	}
	shown := smallest(v, maxNodeSeries, func(x, y promql.Sample) int {
		if holds != nil && holds(x.F) != holds(y.F) {
			if holds(x.F) {
				return -1
			}
			return 1
		}
		return labels.Compare(x.Metric, y.Metric)
	})
	for _, s := range shown {
		series := NodeSeries{Labels: s.Metric.Map(), Value: new(Number(s.F))}
		if holds != nil {
			series.Holds = new(holds(s.F))
		}
		n.Series, f.shown = append(n.Series, series), append(f.shown, s.Metric)
	}
	return f
}

// matrix shows the first ranges of a matrix.
func (n *Node) matrix(m promql.Matrix) (f found) {
	n.Count = len(m)
	for _, s := range smallest(m, maxNodeSeries, func(x, y promql.Series) int { return labels.Compare(x.Metric, y.Metric) }) {
		series := NodeSeries{Labels: s.Metric.Map(), Samples: len(s.Floats)}
		if last := len(s.Floats) - 1; last >= 0 {
			series.First, series.Last = point(s.Floats[0]), point(s.Floats[last])
		}
		n.Series, f.shown = append(n.Series, series), append(f.shown, s.Metric)
	}
	return f
}

func point(p promql.FPoint) *Point {
	return &Point{At: time.UnixMilli(p.T).UTC(), Value: Number(p.F)}
}

// smallest returns the first limit elements of what all would be in order.
func smallest[E any](all []E, limit int, compare func(a, b E) int) []E {
	var kept []E
	for _, e := range all {
		if len(kept) == limit && compare(e, kept[limit-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(kept, e, compare)
		kept = slices.Insert(kept, at, e)
		kept = kept[:min(len(kept), limit)]
	}
	return kept
}
