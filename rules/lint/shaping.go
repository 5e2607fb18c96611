package lint

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// shape returns the shape of an expression. It is computed once for each node.
func (p *pass) shape(e parser.Expr) shape {
	s, ok := p.nodeShapes[e]
	if !ok {
		s = p.shapeOf(e)
		if p.nodeShapes != nil { // while the recorded shapes change, nothing is kept
			p.nodeShapes[e] = s
		}
	}
	return s
}

func (p *pass) shapeOf(e parser.Expr) shape {
	p.computed++
	switch n := e.(type) {
	case *parser.VectorSelector:
		return p.ofName(promexpr.MetricName(n)).narrowed(n.LabelMatchers)
	case *parser.AggregateExpr:
		return p.grouped(n)
	case *parser.BinaryExpr:
		return p.operated(n)
	case *parser.Call:
		return p.called(n)
	}
	if inner := operand(e); inner != nil {
		return p.shape(inner)
	}
	return scalars() // a number or a string
}

// grouped returns the shape of an aggregation.
func (p *pass) grouped(n *parser.AggregateExpr) shape {
	s := p.shape(n.Expr)
	if keepsLabels(n.Op) {
		return s
	}
	grouped := s.only(n.Grouping...)
	if n.Without {
		grouped = s
	}
	if label := counted(n); label != "" {
		grouped = grouped.with(label, domain{open: true})
	}
	if n.Without { // also the label that count_values adds
		grouped = grouped.dropping(n.Grouping...)
	}
	return grouped
}

// matchedOn is the part of an operation that decides which samples match.
type matchedOn struct{ *parser.VectorMatching }

// labels returns the labels about which something is known and on which samples of two
// shapes are matched.
func (m matchedOn) labels(s, t shape) []string {
	if m.On {
		return filtered(m.MatchingLabels, func(label string) bool { return label != model.MetricNameLabel })
	}
	all := append(keys(s.labels), keys(t.labels)...)
	slices.Sort(all)
	return filtered(slices.Compact(all), func(label string) bool { return !slices.Contains(m.MatchingLabels, label) })
}

func (p *pass) operated(n *parser.BinaryExpr) shape {
	left, right := p.shape(n.LHS), p.shape(n.RHS)
	m := n.VectorMatching
	switch {
	case n.LHS.Type() == parser.ValueTypeScalar:
		return right
	case m == nil || n.Op == parser.LUNLESS:
		return left
	case filled(n): // the labels can come from either side alone
		return anything()
	case n.Op == parser.LOR:
		return left.or(right)
	case !left.some || !right.some:
		return shape{}
	case m.Card == parser.CardOneToMany:
		left, right = right, left
	}
	both, _ := left.matched(right, matchedOn{m})
	if m.Card == parser.CardOneToOne && m.On {
		return both.only(m.MatchingLabels...)
	}
	if m.Card == parser.CardOneToOne {
		return both.dropping(m.MatchingLabels...)
	}
	for _, label := range m.Include {
		both = both.with(label, right.of(label))
	}
	return both
}

func (p *pass) called(n *parser.Call) shape {
	switch n.Func.Name {
	case "absent", "absent_over_time":
		return ofAbsent(n.Args[0])
	case "info":
		return anything()
	case "label_replace":
		return p.replaced(n)
	case "label_join":
		return p.joined(n)
	case "histogram_quantile", "histogram_fraction":
		return p.shape(n.Args[len(n.Args)-1]).dropping(model.BucketLabel)
	case "histogram_quantiles":
		return p.shape(n.Args[0]).dropping(model.BucketLabel).with(literal(n.Args[1]), domain{open: true})
	}
	if n.Type() == parser.ValueTypeScalar || n.Func.Name == "vector" {
		return scalars()
	}
	for _, arg := range n.Args {
		if t := arg.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
			return p.shape(arg)
		}
	}
	return scalars() // such as hour()
}

// replaced returns the shape of label_replace, joined that of label_join.
func (p *pass) replaced(n *parser.Call) shape {
	const source, pattern = 3, 4
	s, label := p.shape(n.Args[0]), literal(n.Args[1])
	written, kept := s.of(literal(n.Args[source])).replaced(literal(n.Args[pattern]), literal(n.Args[2]))
	if kept {
		written = written.or(s.of(label))
	}
	return s.with(label, written)
}

func (p *pass) joined(n *parser.Call) shape {
	const first = 3 // the label, the separator, then the sources
	s := p.shape(n.Args[0])
	sources := n.Args[min(first, len(n.Args)):]
	separated := len(sources) > 1 && literal(n.Args[2]) != ""
	joined := domain{lacking: !separated, open: separated}
	for _, arg := range sources {
		d := s.of(literal(arg))
		joined.open = joined.open || !d.never()
		joined.lacking = joined.lacking && d.lacking
	}
	return s.with(literal(n.Args[1]), joined)
}

// ofAbsent returns the shape of absent: the labels that the selector matches by equality,
// unless a further matcher follows.
func ofAbsent(arg parser.Expr) shape {
	s := scalars()
	arg = promexpr.Bare(arg)
	if m, ok := arg.(*parser.MatrixSelector); ok {
		arg = m.VectorSelector
	}
	selector, ok := arg.(*parser.VectorSelector)
	if !ok {
		return s
	}
	for _, m := range without(selector.LabelMatchers, model.MetricNameLabel) {
		if m.Type != labels.MatchEqual || m.Value == "" {
			continue
		}
		values := domain{texts: []string{m.Value}}
		if len(without(selector.LabelMatchers, m.Name)) < len(selector.LabelMatchers)-1 {
			values = anyText() // with two matchers it is left out or has either value
		}
		s = s.with(m.Name, values)
	}
	return s
}
