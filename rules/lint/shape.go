package lint

import (
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// shape describes the possible labels of an expression's result. The zero value describes
// an expression without a result.
type shape struct {
	// some is set if there can be a result.
	some bool
	// rest describes the labels that are not in labels.
	rest rest
	// labels holds the possible values of labels. The metric name is left out.
	labels map[string]domain
}

// rest is the set of labels that a result may have although nothing is known about them.
type rest int

const (
	// noOther: the result has no other label.
	noOther rest = iota
	// addedOnly: the result may have labels that Prometheus adds when it scrapes.
	addedOnly
	// anyOther: the result may have any label.
	anyOther
)

// scalars returns the shape of a result without labels.
func scalars() shape { return shape{some: true} }

func anything() shape { return shape{some: true, rest: anyOther} }

// known reports whether the labels are known, except for those that Prometheus adds.
func (s shape) known() bool { return s.some && s.rest != anyOther }

// of returns the possible values of a label.
func (s shape) of(label string) domain {
	d, ok := s.labels[label]
	switch {
	case ok:
		return d
	case label == "": // of label_replace without a source
	case s.rest == anyOther, s.rest == addedOnly && added(label), label == model.MetricNameLabel:
		return anyText()
	}
	return absentLabel()
}

// lacks reports whether there is a result and it surely lacks a label.
func (s shape) lacks(label string) bool { return s.some && s.of(label).never() }

// declares reports whether a series may have a label that no scrape adds.
func (s shape) declares(label string) bool {
	d, ok := s.labels[label]
	return !s.known() || ok && !d.never()
}

// names returns the labels that a series may have, as far as they are known.
func (s shape) names() []string {
	return slices.DeleteFunc(keys(s.labels), func(label string) bool { return s.labels[label].never() })
}

// with returns the shape with a label of these values.
func (s shape) with(label string, values domain) shape {
	s.labels = maps.Clone(s.labels)
	if s.labels == nil {
		s.labels = map[string]domain{}
	}
	s.labels[label] = values
	return s
}

// dropping returns the shape without some labels, only with nothing but some labels.
func (s shape) dropping(names ...string) shape {
	for _, label := range names {
		s = s.with(label, absentLabel())
	}
	return s
}

func (s shape) only(names ...string) shape {
	kept := shape{some: s.some}
	for _, label := range names {
		kept = kept.with(label, s.of(label))
	}
	return kept
}

// or returns the shape of the union.
func (s shape) or(t shape) shape {
	switch {
	case !s.some:
		return t
	case !t.some:
		return s
	}
	sum := shape{some: true, rest: max(s.rest, t.rest), labels: map[string]domain{}}
	for _, of := range []shape{s, t} {
		for label := range of.labels {
			sum.labels[label] = s.of(label).or(t.of(label))
		}
	}
	return sum
}

func (s shape) equal(t shape) bool {
	return s.some == t.some && s.rest == t.rest && maps.EqualFunc(s.labels, t.labels, domain.equal)
}

// narrowed returns the shape of the series that satisfy the matchers.
func (s shape) narrowed(matchers []*labels.Matcher) shape {
	for _, m := range without(matchers, model.MetricNameLabel) {
		d := s.of(m.Name).matching(m)
		if d.empty() {
			return shape{}
		}
		s = s.with(m.Name, d)
	}
	return s
}

// matched returns the shape of the samples of s that match samples of t on labels. label is
// one on which they never match; it is empty if they may match.
func (s shape) matched(t shape, m matchedOn) (both shape, label string) {
	both = s
	if !m.On { // what is not ignored is the same on both sides
		for _, name := range m.MatchingLabels {
			both = both.with(name, s.of(name))
		}
		both.rest = min(s.rest, t.rest)
	}
	for _, name := range m.labels(s, t) {
		d := s.of(name).and(t.of(name))
		if d.empty() {
			return shape{}, name
		}
		both = both.with(name, d)
	}
	return both, ""
}
