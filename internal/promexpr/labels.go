package promexpr

import (
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Freedom is whether a label of a result can have more than one value.
type Freedom int

const (
	// Fixed labels have the value that the expression requires.
	Fixed Freedom = iota
	// Open labels can have any value.
	Open
)

// LabelSet has the labels of a result by name.
type LabelSet map[string]Freedom

// ResultLabels returns the labels that every series of an expression's result has, as far
// as they follow from the labels of the metrics.
func ResultLabels(e parser.Expr, of func(metric string) []string) LabelSet {
	inner := func(e parser.Expr) LabelSet { return ResultLabels(e, of) }
	switch e := e.(type) {
	case *parser.VectorSelector:
		return selectorLabels(e, of)
	case *parser.MatrixSelector:
		return inner(e.VectorSelector)
	case *parser.SubqueryExpr:
		return inner(e.Expr)
	case *parser.ParenExpr:
		return inner(e.Expr)
	case *parser.UnaryExpr:
		return inner(e.Expr)
	case *parser.AggregateExpr:
		return aggregateLabels(e, inner(e.Expr))
	case *parser.BinaryExpr:
		return binaryLabels(e, inner(e.LHS), inner(e.RHS))
	case *parser.Call:
		return callLabels(e, inner)
	}
	return nil
}

func selectorLabels(s *parser.VectorSelector, of func(string) []string) LabelSet {
	found := LabelSet{}
	if of != nil {
		for _, name := range of(s.Name) {
			found[name] = Open
		}
	}
	for _, m := range s.LabelMatchers {
		if m.Type == labels.MatchEqual && m.Name != model.MetricNameLabel {
			found[m.Name] = Fixed
		}
	}
	return found
}

func aggregateLabels(e *parser.AggregateExpr, from LabelSet) LabelSet {
	switch e.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return from
	}
	return from.keep(e.Grouping, e.Without)
}

// keep returns the named labels or, with without, all others.
func (s LabelSet) keep(names []string, without bool) LabelSet {
	kept := maps.Clone(s)
	maps.DeleteFunc(kept, func(name string, _ Freedom) bool { return slices.Contains(names, name) == without })
	return kept
}

func binaryLabels(e *parser.BinaryExpr, left, right LabelSet) LabelSet {
	m := e.VectorMatching
	switch {
	case e.LHS.Type() == parser.ValueTypeScalar:
		return right
	case m == nil: // the right side is a scalar
		return left
	case e.Op == parser.LUNLESS:
		return left
	case e.Op == parser.LOR:
		both := maps.Clone(left)
		maps.DeleteFunc(both, func(name string, _ Freedom) bool { _, ok := right[name]; return !ok })
		return both.fixedBy(right)
	}
	matched := right.keep(m.MatchingLabels, !m.On)
	result := left
	switch m.Card {
	case parser.CardOneToOne:
		result = left.keep(m.MatchingLabels, !m.On)
	case parser.CardOneToMany:
		matched, result = left.keep(m.MatchingLabels, !m.On), right
		right = left
	}
	result = result.fixedBy(matched)
	for _, name := range m.Include {
		if is, ok := right[name]; ok {
			result[name] = is
		}
	}
	return result
}

// fixedBy returns the set; labels that are fixed in the other set are fixed in the result.
func (s LabelSet) fixedBy(other LabelSet) LabelSet {
	result := LabelSet{}
	for name, is := range s {
		if here, ok := other[name]; ok {
			is = min(is, here)
		}
		result[name] = is
	}
	return result
}

// callLabels returns the labels of the argument that is a vector.
func callLabels(e *parser.Call, inner func(parser.Expr) LabelSet) LabelSet {
	for _, arg := range e.Args {
		if t := arg.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeMatrix {
			continue
		}
		found := inner(arg)
		switch e.Func.Name {
		case "absent", "absent_over_time":
			maps.DeleteFunc(found, func(_ string, is Freedom) bool { return is == Open })
		case "label_replace", "label_join":
			if dst, ok := e.Args[1].(*parser.StringLiteral); ok && found != nil {
				found[dst.Val] = Open
			}
		case "histogram_quantile", "histogram_fraction":
			delete(found, "le")
		}
		return found
	}
	return nil
}
