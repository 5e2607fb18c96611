package shapes

import (
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Shape describes the possible labels of an expression's result. The zero value describes
// an expression without a result.
type Shape struct {
	// Some is set if there can be a result.
	Some bool
	// Rest describes the labels that are not in Labels.
	Rest Rest
	// Labels holds the possible values of labels. The metric name is left out.
	Labels map[string]Domain
}

// Rest is the set of labels that a result may have although nothing is known about them.
type Rest int

const (
	// NoOther: the result has no other label.
	NoOther Rest = iota
	// AddedOnly: the result may have labels that Prometheus adds when it scrapes.
	AddedOnly
	// AnyOther: the result may have any label.
	AnyOther
)

// Scalars returns the shape of a result without labels.
func Scalars() Shape { return Shape{Some: true} }

// Anything returns the shape of a result about which nothing is known.
func Anything() Shape { return Shape{Some: true, Rest: AnyOther} }

// Known reports whether the labels are known, except for those that Prometheus adds.
func (s Shape) Known() bool { return s.Some && s.Rest != AnyOther }

// Of returns the possible values of a label.
func (s Shape) Of(label string) Domain {
	d, ok := s.Labels[label]
	switch {
	case ok:
		return d
	case label == "": // of label_replace without a source
	case s.Rest == AnyOther, s.Rest == AddedOnly && Added(label), label == model.MetricNameLabel:
		return AnyText()
	}
	return absentLabel()
}

// Lacks reports whether there is a result and it surely lacks a label.
func (s Shape) Lacks(label string) bool { return s.Some && s.Of(label).Never() }

// Declares reports whether a series may have a label that no scrape adds.
func (s Shape) Declares(label string) bool {
	d, ok := s.Labels[label]
	return !s.Known() || ok && !d.Never()
}

// Names returns the labels that a series may have, as far as they are known.
func (s Shape) Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Labels)), func(label string) bool { return s.Labels[label].Never() })
}

// With returns the shape with a label of these values.
func (s Shape) With(label string, values Domain) Shape {
	s.Labels = maps.Clone(s.Labels)
	if s.Labels == nil {
		s.Labels = map[string]Domain{}
	}
	s.Labels[label] = values
	return s
}

// Dropping returns the shape without some labels.
func (s Shape) Dropping(names ...string) Shape {
	for _, label := range names {
		s = s.With(label, absentLabel())
	}
	return s
}

// Only returns the shape with nothing but some labels.
func (s Shape) Only(names ...string) Shape {
	kept := Shape{Some: s.Some}
	for _, label := range names {
		kept = kept.With(label, s.Of(label))
	}
	return kept
}

// Or returns the shape of the union.
func (s Shape) Or(t Shape) Shape {
	switch {
	case !s.Some:
		return t
	case !t.Some:
		return s
	}
	sum := Shape{Some: true, Rest: max(s.Rest, t.Rest), Labels: map[string]Domain{}}
	for _, of := range []Shape{s, t} {
		for label := range of.Labels {
			sum.Labels[label] = s.Of(label).Or(t.Of(label))
		}
	}
	return sum
}

// Equal reports whether two shapes are the same.
func (s Shape) Equal(t Shape) bool {
	return s.Some == t.Some && s.Rest == t.Rest && maps.EqualFunc(s.Labels, t.Labels, Domain.equal)
}

// Narrowed returns the shape of the series that satisfy the matchers.
func (s Shape) Narrowed(matchers []*labels.Matcher) Shape {
	for _, m := range syntax.Without(matchers, model.MetricNameLabel) {
		d := s.Of(m.Name).Matching(m)
		if d.Empty() {
			return Shape{}
		}
		s = s.With(m.Name, d)
	}
	return s
}

// Matched returns the shape of the samples of s that match samples of t on labels. label is
// one on which they never match; it is empty if they may match.
func (s Shape) Matched(t Shape, m MatchedOn) (both Shape, label string) {
	both = s
	if !m.On { // what is not ignored is the same on both sides
		for _, name := range m.MatchingLabels {
			both = both.With(name, s.Of(name))
		}
		both.Rest = min(s.Rest, t.Rest)
	}
	for _, name := range m.labels(s, t) {
		d := s.Of(name).and(t.Of(name))
		if d.Empty() {
			return Shape{}, name
		}
		both = both.With(name, d)
	}
	return both, ""
}

// MatchedOn is the part of an operation that decides which samples match.
type MatchedOn struct{ *parser.VectorMatching }

// labels returns the labels about which something is known and on which samples of two
// shapes are matched.
func (m MatchedOn) labels(s, t Shape) []string {
	if m.On {
		return filtered(m.MatchingLabels, func(label string) bool { return label != model.MetricNameLabel })
	}
	all := append(slices.Sorted(maps.Keys(s.Labels)), slices.Sorted(maps.Keys(t.Labels))...)
	slices.Sort(all)
	return filtered(slices.Compact(all), func(label string) bool { return !slices.Contains(m.MatchingLabels, label) })
}
