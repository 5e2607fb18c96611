package analysis

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/shapes"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Shape returns the shape of an expression. It is computed once for each node.
func (a *Analysis) Shape(e parser.Expr) shapes.Shape {
	s, ok := a.nodeShapes[e]
	if !ok {
		s = a.shapeOf(e)
		if a.nodeShapes != nil { // while the recorded shapes change, nothing is kept
			a.nodeShapes[e] = s
		}
	}
	return s
}

func (a *Analysis) shapeOf(e parser.Expr) shapes.Shape {
	a.computed++
	switch n := e.(type) {
	case *parser.VectorSelector:
		return a.SeriesOf(promexpr.MetricName(n)).Narrowed(n.LabelMatchers)
	case *parser.AggregateExpr:
		return a.grouped(n)
	case *parser.BinaryExpr:
		return a.operated(n)
	case *parser.Call:
		return a.called(n)
	}
	if inner := syntax.Operand(e); inner != nil {
		return a.Shape(inner)
	}
	return shapes.Scalars() // a number or a string
}

// grouped returns the shape of an aggregation.
func (a *Analysis) grouped(n *parser.AggregateExpr) shapes.Shape {
	s := a.Shape(n.Expr)
	if syntax.KeepsLabels(n.Op) {
		return s
	}
	grouped := s.Only(n.Grouping...)
	if n.Without {
		grouped = s
	}
	if label := syntax.Counted(n); label != "" {
		grouped = grouped.With(label, shapes.Domain{Open: true})
	}
	if n.Without { // also the label that count_values adds
		grouped = grouped.Dropping(n.Grouping...)
	}
	return grouped
}

func (a *Analysis) operated(n *parser.BinaryExpr) shapes.Shape {
	left, right := a.Shape(n.LHS), a.Shape(n.RHS)
	m := n.VectorMatching
	switch {
	case n.LHS.Type() == parser.ValueTypeScalar:
		return right
	case m == nil || n.Op == parser.LUNLESS:
		return left
	case syntax.Filled(n): // the labels can come from either side alone
		return shapes.Anything()
	case n.Op == parser.LOR:
		return left.Or(right)
	case !left.Some || !right.Some:
		return shapes.Shape{}
	case m.Card == parser.CardOneToMany:
		left, right = right, left
	}
	both, _ := left.Matched(right, shapes.MatchedOn{VectorMatching: m})
	if m.Card == parser.CardOneToOne && m.On {
		return both.Only(m.MatchingLabels...)
	}
	if m.Card == parser.CardOneToOne {
		return both.Dropping(m.MatchingLabels...)
	}
	for _, label := range m.Include {
		both = both.With(label, right.Of(label))
	}
	return both
}

func (a *Analysis) called(n *parser.Call) shapes.Shape {
	switch n.Func.Name {
	case "absent", "absent_over_time":
		return ofAbsent(n.Args[0])
	case "info":
		return shapes.Anything()
	case "label_replace":
		return a.replaced(n)
	case "label_join":
		return a.joined(n)
	case "histogram_quantile", "histogram_fraction":
		return a.Shape(n.Args[len(n.Args)-1]).Dropping(model.BucketLabel)
	case "histogram_quantiles":
		return a.Shape(n.Args[0]).Dropping(model.BucketLabel).With(syntax.Literal(n.Args[1]), shapes.Domain{Open: true})
	}
	if n.Type() == parser.ValueTypeScalar || n.Func.Name == "vector" {
		return shapes.Scalars()
	}
	for _, arg := range n.Args {
		if t := arg.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
			return a.Shape(arg)
		}
	}
	return shapes.Scalars() // such as hour()
}

// replaced returns the shape of label_replace, joined that of label_join.
func (a *Analysis) replaced(n *parser.Call) shapes.Shape {
	const source, pattern = 3, 4
	s, label := a.Shape(n.Args[0]), syntax.Literal(n.Args[1])
	written, kept := s.Of(syntax.Literal(n.Args[source])).Replaced(syntax.Literal(n.Args[pattern]), syntax.Literal(n.Args[2]))
	if kept {
		written = written.Or(s.Of(label))
	}
	return s.With(label, written)
}

func (a *Analysis) joined(n *parser.Call) shapes.Shape {
	const first = 3 // the label, the separator, then the sources
	s := a.Shape(n.Args[0])
	sources := n.Args[min(first, len(n.Args)):]
	separated := len(sources) > 1 && syntax.Literal(n.Args[2]) != ""
	joined := shapes.Domain{Lacking: !separated, Open: separated}
	for _, arg := range sources {
		d := s.Of(syntax.Literal(arg))
		joined.Open = joined.Open || !d.Never()
		joined.Lacking = joined.Lacking && d.Lacking
	}
	return s.With(syntax.Literal(n.Args[1]), joined)
}

// ofAbsent returns the shape of absent: the labels that the selector matches by equality,
// unless a further matcher follows.
func ofAbsent(arg parser.Expr) shapes.Shape {
	s := shapes.Scalars()
	arg = promexpr.Bare(arg)
	if m, ok := arg.(*parser.MatrixSelector); ok {
		arg = m.VectorSelector
	}
	selector, ok := arg.(*parser.VectorSelector)
	if !ok {
		return s
	}
	for _, m := range syntax.Without(selector.LabelMatchers, model.MetricNameLabel) {
		if m.Type != labels.MatchEqual || m.Value == "" {
			continue
		}
		values := shapes.Domain{Texts: []string{m.Value}}
		if len(syntax.Without(selector.LabelMatchers, m.Name)) < len(selector.LabelMatchers)-1 {
			values = shapes.AnyText() // with two matchers it is left out or has either value
		}
		s = s.With(m.Name, values)
	}
	return s
}
