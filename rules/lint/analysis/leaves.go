package analysis

import (
	"fmt"
	"iter"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Leaf is a selector that an expression uses directly or through recording rules.
type Leaf struct {
	// Selector is the selector as written. In a recording rule it also has the matchers
	// that the rules on the way impose.
	Selector *parser.VectorSelector
	// Path contains the nodes above the selector within its own rule.
	Path *Trail
	// Via names the recording rules on the way, in order; nil for a selector of the
	// expression itself.
	Via []string
	// At is the selector in the rule's own expression that led here. Above contains the
	// nodes above it.
	At    *parser.VectorSelector
	Above *Trail
}

// Trail is a node with the nodes above it. A nil trail is empty.
type Trail struct {
	node parser.Node
	up   *Trail
}

// Upwards returns the nodes, innermost first.
func (t *Trail) Upwards() iter.Seq[parser.Node] {
	return func(yield func(parser.Node) bool) {
		for ; t != nil && yield(t.node); t = t.up {
		}
	}
}

// Contains reports whether a condition holds for one of the nodes.
func (t *Trail) Contains(condition func(parser.Node) bool) bool {
	for n := range t.Upwards() {
		if condition(n) {
			return true
		}
	}
	return false
}

// Leaves returns the selectors of a rule's expression and, recursively, of the recording
// rules that it uses. The result must not be changed.
func (a *Analysis) Leaves(r *rules.Rule) []Leaf {
	if found, ok := a.walked[r]; ok {
		return found
	}
	w := walk{in: a, seen: map[followed][]string{}}
	if r.AST != nil {
		w.expr(r.AST, nil, nil)
	}
	a.walked[r] = slices.Clip(w.found)
	return a.walked[r]
}

// walk collects the leaves of one rule.
type walk struct {
	in    *Analysis
	found []Leaf
	// from is the current leaf of the rule's own expression, if any. via names the
	// recording rules on the way from there.
	from *Leaf
	via  []string
	// seen holds the matchers with which each recording rule was followed. It bounds the
	// walk where rules use each other several times.
	seen map[followed][]string
}

// followed identifies a recording rule and the selector of the rule's own expression that
// leads to it.
type followed struct {
	at  *parser.VectorSelector
	rec *Subject
}

// enter reports whether to follow a recording rule with the matchers want. After many
// different ones it drops the matchers and follows the rule one last time.
func (w *walk) enter(to followed, want *[]*labels.Matcher) bool {
	const many = 8
	previous := w.seen[to]
	if len(previous) == many {
		*want = nil
	}
	key := fmt.Sprint(*want)
	if len(previous) > many || slices.Contains(previous, key) || slices.Contains(previous, fmt.Sprint([]*labels.Matcher(nil))) {
		return false
	}
	w.seen[to] = append(previous, key)
	return true
}

// expr walks down an expression. want are the matchers that its result must satisfy.
func (w *walk) expr(e parser.Expr, path *Trail, want []*labels.Matcher) {
	below := &Trail{e, path}
	switch n := e.(type) {
	case *parser.VectorSelector:
		w.selector(n, path, want)
	case *parser.AggregateExpr:
		if n.Param != nil {
			w.expr(n.Param, below, nil)
		}
		if want, ok := ofGroups(n, want); ok {
			w.expr(n.Expr, below, want)
		}
	case *parser.BinaryExpr:
		left, right := ofSides(n, want)
		w.expr(n.LHS, below, left)
		w.expr(n.RHS, below, right)
	case *parser.Call:
		want := ofArguments(n, want)
		for _, arg := range n.Args {
			w.expr(arg, below, want)
		}
	default:
		if inner := syntax.Operand(e); inner != nil {
			w.expr(inner, below, want)
		}
	}
}

func (w *walk) selector(s *parser.VectorSelector, path *Trail, want []*labels.Matcher) {
	own := Leaf{Selector: s, Path: path, Via: w.via, At: s, Above: path}
	if len(want) > 0 {
		narrowed := *s
		narrowed.LabelMatchers = slices.Concat(s.LabelMatchers, want)
		own.Selector = &narrowed
	}
	if w.from != nil {
		own.At, own.Above = w.from.At, w.from.Above
	}
	w.found = append(w.found, own)
	name := promexpr.MetricName(s)
	for _, rec := range w.in.Recorded[name] {
		want, ok := ofRecorded(rec.Rule, own.Selector.LabelMatchers)
		if !ok || rec.Rule.AST == nil || !w.enter(followed{own.At, rec}, &want) {
			continue
		}
		from, via := w.from, w.via
		w.from, w.via = &own, append(via[:len(via):len(via)], name)
		w.expr(rec.Rule.AST, nil, want)
		w.from, w.via = from, via
	}
}

// ofRecorded returns the matchers for a recording rule's expression that make the recorded
// series match. ok is false if they cannot match.
func ofRecorded(r *rules.Rule, want []*labels.Matcher) ([]*labels.Matcher, bool) {
	var inner []*labels.Matcher
	for _, m := range want {
		value, static := r.Labels[m.Name]
		switch {
		case m.Name == model.MetricNameLabel:
		case !static:
			inner = append(inner, m)
		case !m.Matches(value):
			return nil, false
		}
	}
	return inner, true
}

// ofGroups returns the matchers for the operand of an aggregation. ok is false if its
// groups cannot have the wanted labels.
func ofGroups(n *parser.AggregateExpr, want []*labels.Matcher) ([]*labels.Matcher, bool) {
	var inner []*labels.Matcher
	for _, m := range want {
		switch {
		case m.Name == syntax.Counted(n): // the label is made by count_values
		case slices.Contains(n.Grouping, m.Name) != n.Without:
			inner = append(inner, m)
		case !m.Matches("") && !syntax.KeepsLabels(n.Op): // topk and others choose among the whole group
			return nil, false
		}
	}
	return inner, true
}

// ofArguments returns the matchers for the arguments of a function.
func ofArguments(n *parser.Call, want []*labels.Matcher) []*labels.Matcher {
	made := ""
	switch n.Func.Name {
	case "absent", "absent_over_time", "scalar", "vector", "info":
		return nil
	case "label_replace", "label_join":
		made = syntax.Literal(n.Args[1])
	case "histogram_quantile", "histogram_fraction":
		made = model.BucketLabel
	}
	return syntax.Without(want, made)
}

// ofSides returns the matchers for both sides of an operator.
func ofSides(n *parser.BinaryExpr, want []*labels.Matcher) (left, right []*labels.Matcher) {
	m := n.VectorMatching
	if m == nil {
		return want, want
	}
	matched := slices.DeleteFunc(slices.Clone(want), func(w *labels.Matcher) bool {
		return slices.Contains(m.MatchingLabels, w.Name) != m.On
	})
	if n.Op == parser.LOR { // a sample on the left also hides matching samples on the right
		return matched, want
	}
	var included []*labels.Matcher
	for _, w := range want {
		if slices.Contains(m.Include, w.Name) {
			included = append(included, w)
		}
	}
	many, one := syntax.Without(want, m.Include...), slices.Concat(matched, included)
	switch m.Card {
	case parser.CardOneToMany:
		return one, many
	case parser.CardOneToOne:
		return matched, matched
	}
	return many, one
}
