package syntax

import (
	"iter"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Index finds the selectors of a metric that do not require other label values than
// a given selector. The zero value is empty.
type Index[T any] struct{ named map[string]*sameName[T] }

// sameName holds the selectors of one metric in the order in which they were added.
type sameName[T any] struct {
	all []T
	// equal holds, by label and value, the positions of the selectors that require the
	// value. other holds, by label, those that require no value of it.
	equal map[string]map[string][]int
	other map[string][]int
	// required holds the labels of which each selector requires a value.
	required []map[string]bool
}

// Add adds a selector. One without a metric name is left out.
func (x *Index[T]) Add(s *parser.VectorSelector, of T) {
	name := promexpr.MetricName(s)
	if name == "" {
		return
	}
	if x.named == nil {
		x.named = map[string]*sameName[T]{}
	}
	n := x.named[name]
	if n == nil {
		n = &sameName[T]{equal: map[string]map[string][]int{}}
		x.named[name] = n
	}
	required := map[string]bool{}
	for _, m := range equalities(s) {
		if n.equal[m.Name] == nil {
			n.equal[m.Name] = map[string][]int{}
		}
		n.equal[m.Name][m.Value] = append(n.equal[m.Name][m.Value], len(n.all))
		required[m.Name] = true
	}
	n.all, n.required, n.other = append(n.all, of), append(n.required, required), nil
}

// Like returns the added values whose selectors can select series that s selects, judged
// by one label: a superset, in the order in which they were added.
func (x *Index[T]) Like(s *parser.VectorSelector) iter.Seq[T] {
	return func(yield func(T) bool) {
		n := x.named[promexpr.MetricName(s)]
		if n == nil {
			return
		}
		a, b := n.narrowest(s)
		for len(a)+len(b) > 0 {
			if len(a) == 0 || len(b) > 0 && b[0] < a[0] {
				a, b = b, a
			}
			if !yield(n.all[a[0]]) {
				return
			}
			a = a[1:]
		}
	}
}

// narrowest returns the positions of the candidates for a selector, in two lists: those that
// require the same value of a label as s, and those that require none.
func (n *sameName[T]) narrowest(s *parser.VectorSelector) (same, none []int) {
	none = n.without("")
	for _, m := range equalities(s) {
		if rest := n.without(m.Name); len(n.equal[m.Name][m.Value])+len(rest) < len(same)+len(none) {
			same, none = n.equal[m.Name][m.Value], rest
		}
	}
	return same, none
}

// without returns the positions of the selectors that require no value of a label.
func (n *sameName[T]) without(label string) []int {
	if n.other == nil {
		n.other = map[string][]int{}
	}
	found, ok := n.other[label]
	if !ok {
		for i, required := range n.required {
			if !required[label] {
				found = append(found, i)
			}
		}
		n.other[label] = found
	}
	return found
}

// equalities returns the matchers of a selector that require a value of a label.
func equalities(s *parser.VectorSelector) []*labels.Matcher {
	var all []*labels.Matcher
	for _, m := range s.LabelMatchers {
		if m.Type == labels.MatchEqual && m.Name != model.MetricNameLabel {
			all = append(all, m)
		}
	}
	return all
}
