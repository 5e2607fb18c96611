package lint

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

// leaf is a selector that an expression reaches.
type leaf struct {
	// selector is the one that is written; in a recording rule, with what the way there
	// asks of the labels in addition.
	selector *parser.VectorSelector
	// path are the nodes above the selector, the top first, within the rule that it
	// stands in.
	path []parser.Node
	// via are the recording rules on the way, the first one first; nil for a selector
	// of the expression itself.
	via []string
	// at is the selector in the rule's own expression that led here, and above the nodes
	// above that one.
	at    *parser.VectorSelector
	above []parser.Node
}

// leaves returns the selectors of a rule's expression, those of the recording rules that
// it uses included, and theirs. The result must not be changed.
func (p *pass) leaves(r *rules.Rule) []leaf {
	if found, ok := p.walked[r]; ok {
		return found
	}
	w := walk{pass: p, seen: map[followed][]string{}}
	if r.AST != nil {
		w.expr(r.AST, nil, nil)
	}
	p.walked[r] = slices.Clip(w.found)
	return p.walked[r]
}

// walk gathers the leaves of one rule.
type walk struct {
	pass  *pass
	found []leaf
	// from is the leaf of the rule's own expression that is being followed, if any, and
	// via the recording rules on the way from there.
	from *leaf
	via  []string
	// seen has what was asked of the recording rules that were followed: a chain of rules
	// that use each other twice would have no end otherwise.
	seen map[followed][]string
}

// followed is a recording rule that a selector of the rule's own expression leads to.
type followed struct {
	at  *parser.VectorSelector
	rec *subject
}

// enter says whether to follow a recording rule, of which this is asked. Of one of which
// many things are asked everything is asked in the end.
func (w *walk) enter(to followed, want *[]*labels.Matcher) bool {
	const many = 8
	asked := w.seen[to]
	if len(asked) == many {
		*want = nil
	}
	key := fmt.Sprint(*want)
	if len(asked) > many || slices.Contains(asked, key) || slices.Contains(asked, fmt.Sprint([]*labels.Matcher(nil))) {
		return false
	}
	w.seen[to] = append(asked, key)
	return true
}

// expr walks down an expression. want is what the labels of its result have to be for it
// to matter.
func (w *walk) expr(e parser.Expr, path []parser.Node, want []*labels.Matcher) {
	below := append(path[:len(path):len(path)], e)
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
	case *parser.ParenExpr:
		w.expr(n.Expr, below, want)
	case *parser.UnaryExpr:
		w.expr(n.Expr, below, want)
	case *parser.StepInvariantExpr:
		w.expr(n.Expr, below, want)
	case *parser.SubqueryExpr:
		w.expr(n.Expr, below, want)
	case *parser.MatrixSelector:
		w.expr(n.VectorSelector, below, want)
	}
}

func (w *walk) selector(s *parser.VectorSelector, path []parser.Node, want []*labels.Matcher) {
	own := leaf{selector: s, path: path, via: w.via, at: s, above: path}
	if len(want) > 0 {
		narrowed := *s
		narrowed.LabelMatchers = slices.Concat(s.LabelMatchers, want)
		own.selector = &narrowed
	}
	if w.from != nil {
		own.at, own.above = w.from.at, w.from.above
	}
	w.found = append(w.found, own)
	name := metricName(s)
	for _, rec := range w.pass.recorded[name] {
		want, ok := ofRecorded(rec.rule, own.selector.LabelMatchers)
		if !ok || rec.rule.AST == nil || !w.enter(followed{own.at, rec}, &want) {
			continue
		}
		from, via := w.from, w.via
		w.from, w.via = &own, append(via[:len(via):len(via)], name)
		w.expr(rec.rule.AST, nil, want)
		w.from, w.via = from, via
	}
}

// ofRecorded returns what a recording rule's expression has to yield so that the recorded
// series match. It says false if they cannot.
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

// ofGroups returns what an aggregation has to be over. It says false if its groups cannot
// have the labels that are wanted.
func ofGroups(n *parser.AggregateExpr, want []*labels.Matcher) ([]*labels.Matcher, bool) {
	var inner []*labels.Matcher
	for _, m := range want {
		switch {
		case m.Name == counted(n): // a label that it makes
		case slices.Contains(n.Grouping, m.Name) != n.Without:
			inner = append(inner, m)
		case !m.Matches("") && !keepsLabels(n.Op): // which picks among all of a group
			return nil, false
		}
	}
	return inner, true
}

// keepsLabels says whether an aggregation picks elements and leaves them as they are.
func keepsLabels(op parser.ItemType) bool {
	switch op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return true
	}
	return false
}

// counted returns the label that count_values makes, or "".
func counted(n *parser.AggregateExpr) string {
	if n.Op == parser.COUNT_VALUES {
		return text(n.Param)
	}
	return ""
}

// ofArguments returns what the arguments of a function have to be.
func ofArguments(n *parser.Call, want []*labels.Matcher) []*labels.Matcher {
	made := ""
	switch n.Func.Name {
	case "absent", "absent_over_time", "scalar", "vector", "info":
		return nil
	case "label_replace", "label_join":
		made = text(n.Args[1])
	case "histogram_quantile", "histogram_fraction":
		made = model.BucketLabel
	}
	return without(want, made)
}

// ofSides returns what both sides of an operator have to be.
func ofSides(n *parser.BinaryExpr, want []*labels.Matcher) (left, right []*labels.Matcher) {
	m := n.VectorMatching
	if m == nil {
		return want, want
	}
	matched := slices.DeleteFunc(slices.Clone(want), func(w *labels.Matcher) bool {
		return slices.Contains(m.MatchingLabels, w.Name) != m.On
	})
	if n.Op == parser.LOR { // the left side also stands in front of what the right one has
		return matched, want
	}
	var included []*labels.Matcher
	for _, w := range want {
		if slices.Contains(m.Include, w.Name) {
			included = append(included, w)
		}
	}
	many, one := without(want, m.Include...), slices.Concat(matched, included)
	switch m.Card {
	case parser.CardOneToMany:
		return one, many
	case parser.CardOneToOne:
		return matched, matched
	}
	return many, one
}

func without(want []*labels.Matcher, names ...string) []*labels.Matcher {
	return slices.DeleteFunc(slices.Clone(want), func(m *labels.Matcher) bool { return slices.Contains(names, m.Name) })
}

// text returns the value of a string literal, or "".
func text(e parser.Expr) string {
	for {
		switch n := e.(type) {
		case *parser.ParenExpr:
			e = n.Expr
		case *parser.StringLiteral:
			return n.Val
		default:
			return ""
		}
	}
}
