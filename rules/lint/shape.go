package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// shape describes the possible labels of an expression's result. The zero value describes
// an expression without a result.
type shape struct {
	// some is set if there can be a result, and open if its labels are unknown.
	some, open bool
	// labels holds the possible labels with their values: "" for a series that lacks the
	// label; nil for any value. The metric name is left out.
	labels map[string][]string
}

// scalars returns the shape of a result without labels.
func scalars() shape { return shape{some: true} }

func anything() shape { return shape{some: true, open: true} }

// known reports whether the labels are known.
func (s shape) known() bool { return s.some && !s.open }

// has reports whether a series may have a label.
func (s shape) has(label string) bool {
	_, ok := s.labels[label]
	return !s.known() || ok
}

// with returns the shape with a label of these values; nil for any value.
func (s shape) with(label string, values []string) shape {
	s.labels = maps.Clone(s.labels)
	if s.labels == nil {
		s.labels = map[string][]string{}
	}
	s.labels[label] = values
	return s
}

// keep returns the shape without the labels for which keep returns false.
func (s shape) keep(keep func(label string) bool) shape {
	s.labels = maps.Clone(s.labels)
	maps.DeleteFunc(s.labels, func(label string, _ []string) bool { return !keep(label) })
	return s
}

// or returns the shape of the union.
func (s shape) or(t shape) shape {
	switch {
	case !s.some || t.open:
		return t
	case !t.some || s.open:
		return s
	}
	sum := shape{some: true, labels: map[string][]string{}}
	for label := range s.labels {
		sum.labels[label] = either(s, t, label)
	}
	for label := range t.labels {
		sum.labels[label] = either(s, t, label)
	}
	return sum
}

// either returns the values of a label in the union of two shapes, at least one of which
// has it.
func either(s, t shape, label string) []string {
	a, inS := s.labels[label]
	b, inT := t.labels[label]
	if inS && a == nil || inT && b == nil {
		return nil
	}
	if !inS {
		a = []string{""}
	}
	if !inT {
		b = []string{""}
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func (s shape) equal(t shape) bool {
	return s.some == t.some && s.open == t.open && maps.EqualFunc(s.labels, t.labels, func(a, b []string) bool {
		return (a == nil) == (b == nil) && slices.Equal(a, b)
	})
}

// narrowed returns the shape of the series that satisfy the matchers.
func (s shape) narrowed(matchers []*labels.Matcher) shape {
	if !s.known() {
		return s
	}
	s.labels = maps.Clone(s.labels)
	for _, m := range without(matchers, model.MetricNameLabel) {
		values, ok := s.labels[m.Name]
		switch {
		case !ok:
			values = []string{""}
		case values == nil && m.Type == labels.MatchEqual:
			values = []string{m.Value}
		case values == nil:
			continue
		}
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !m.Matches(v) })
		if len(values) == 0 {
			return shape{}
		}
		s.labels[m.Name] = values
		if slices.Equal(values, []string{""}) {
			delete(s.labels, m.Name)
		}
	}
	return s
}

// shapes computes the shapes of all recorded series. Recording rules may use each other and
// themselves, so it starts without results and repeats until nothing changes.
func (p *pass) shapes() {
	p.shaped = map[*subject]shape{}
	for changed := true; changed; {
		changed = false
		for _, s := range p.subjects {
			if s.rule.Record != "" && s.rule.AST == nil {
				p.shaped[s] = anything()
			}
			if s.rule.Record == "" || s.rule.AST == nil {
				continue
			}
			was, is := p.shaped[s], p.shape(s.rule.AST)
			for label, value := range s.rule.Labels {
				is = is.with(label, []string{value}) // "" removes a label, which has the same effect
			}
			if is = was.or(is); !is.equal(was) {
				p.shaped[s], changed = is, true
			}
		}
	}
}

// ofName returns the shape of all series of a name.
func (p *pass) ofName(name string) shape {
	var found shape
	if name == "" || p.opts.Vocabulary == nil {
		return anything()
	}
	for _, m := range p.opts.Vocabulary.Metrics {
		if m.Name == name {
			found = found.or(shape{some: true, labels: m.Labels})
		}
	}
	recorded := p.recorded[name]
	for _, rec := range recorded {
		found = found.or(p.shaped[rec])
	}
	if !found.some && len(recorded) == 0 {
		return anything()
	}
	return found
}

// shape returns the shape of an expression.
func (p *pass) shape(e parser.Expr) shape {
	switch n := e.(type) {
	case *parser.VectorSelector:
		return p.ofName(promexpr.MetricName(n)).narrowed(n.LabelMatchers)
	case *parser.AggregateExpr:
		return p.aggregated(n)
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

func (p *pass) aggregated(n *parser.AggregateExpr) shape {
	s := p.shape(n.Expr)
	if keepsLabels(n.Op) {
		return s
	}
	if s.open && !n.Without { // the result has only the labels of the grouping
		s = shape{some: true, labels: map[string][]string{}}
		for _, label := range n.Grouping {
			s.labels[label] = nil
		}
	}
	s = s.keep(func(label string) bool { return slices.Contains(n.Grouping, label) != n.Without })
	if label := counted(n); label != "" {
		s = s.with(label, nil)
	}
	return s
}

func (p *pass) operated(n *parser.BinaryExpr) shape {
	left, right := p.shape(n.LHS), p.shape(n.RHS)
	m := n.VectorMatching
	switch {
	case n.LHS.Type() == parser.ValueTypeScalar:
		return right
	case m == nil || n.Op == parser.LAND || n.Op == parser.LUNLESS:
		return left
	case n.Op == parser.LOR:
		return left.or(right)
	case !left.some || !right.some:
		return shape{}
	}
	if m.Card == parser.CardOneToMany {
		left, right = right, left
	}
	if m.Card == parser.CardOneToOne {
		return left.keep(func(label string) bool { return slices.Contains(m.MatchingLabels, label) == m.On })
	}
	for _, label := range m.Include {
		values, ok := right.labels[label]
		if ok || right.open {
			left = left.with(label, values)
		} else {
			left = left.keep(func(l string) bool { return l != label })
		}
	}
	return left
}

func (p *pass) called(n *parser.Call) shape {
	switch n.Func.Name {
	case "absent", "absent_over_time":
		return ofAbsent(n.Args[0])
	case "info":
		return anything()
	case "label_replace", "label_join":
		return p.relabelled(n)
	case "histogram_quantile", "histogram_fraction", "histogram_quantiles":
		return p.shape(n.Args[len(n.Args)-1]).keep(func(label string) bool { return label != model.BucketLabel })
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

// relabelled returns the shape of label_replace or label_join. A constant replacement is
// the label's value where the expression matches. An empty one removes the label.
func (p *pass) relabelled(n *parser.Call) shape {
	s := p.shape(n.Args[0])
	label := literal(n.Args[1])
	var values []string
	if fixed := literal(n.Args[2]); n.Func.Name == "label_replace" && !strings.Contains(fixed, "$") {
		values = either(s, shape{labels: map[string][]string{label: {fixed}}}, label)
	}
	return s.with(label, values)
}

// ofAbsent returns the shape of absent: the labels that the selector matches by equality.
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
		values := []string{m.Value}
		if len(without(selector.LabelMatchers, m.Name)) < len(selector.LabelMatchers)-1 {
			values = nil // with two matchers it is left out or has either value
		}
		s = s.with(m.Name, values)
	}
	return s
}
