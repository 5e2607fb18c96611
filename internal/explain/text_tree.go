package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxPart bounds a part of an expression that is written with its own parts, in bytes.
	maxPart = 100
	// maxShownSeries bounds the elements of a part that are written, and
	// maxDecidingSeries those where only what decides is written.
	maxShownSeries, maxDecidingSeries = 5, 3
)

// node adds the lines of a part of an expression. truth is set for parts whose elements,
// if any, make the rule true.
func (t *textWriter) node(n *Node, depth int, truth bool) {
	if series := t.compared(n); series != nil {
		t.add(depth, n.Expr, t.outcome(n, series))
		n = series
	} else {
		t.add(depth, partOf(n), t.result(n, truth))
	}
	t.named = append(t.named, n.Collectors...)
	if n.Count > 1 && (n.Comparison == nil || n.Comparison.Threshold == nil) && !t.single(n) {
		t.elements(n, depth+1)
	}
	for _, r := range n.Recordings {
		t.recording(r, depth+1)
	}
	for _, child := range n.Children {
		switch {
		case child.Kind == KindNumber || child.Kind == KindString:
		case t.idle(n, child):
			t.add(depth+1, partOf(child), t.result(child, truth))
		default:
			t.node(child, depth+1, truth && n.Kind == KindSet)
		}
	}
	if n.Cut {
		t.add(depth+1, "...", "left out: the expression has too many parts")
	}
}

// compared returns the selector that a part compares with a number, where both fit one
// line.
func (t *textWriter) compared(n *Node) *Node {
	if t.whole || n.Comparison == nil || n.Comparison.Threshold == nil || n.Error != "" || !n.At.IsZero() || len(n.Expr) > maxPart || len(n.Children) != 2 {
		return nil
	}
	for i, child := range n.Children {
		if child.Kind == KindSelector && child.Error == "" && n.Children[1-i].Kind == KindNumber {
			return child
		}
	}
	return nil
}

// outcome returns the result of a comparison and the value of its selector.
func (t *textWriter) outcome(n, series *Node) string {
	if series.Count == 0 {
		return "false: " + t.value(series)
	}
	value := strings.TrimPrefix(t.value(series), fmt.Sprintf("%d series", series.Count))
	return holds(n) + ": " + strings.TrimLeft(value, ", ")
}

// single reports whether only one element of a part is written, because it decides.
func (t *textWriter) single(n *Node) bool {
	return !t.whole && n.Deciding == 1 && n.Comparison == nil
}

// idle reports whether a side of a set operation adds no elements to its result: its
// parts are left out.
func (t *textWriter) idle(n, side *Node) bool {
	return !t.whole && n.Kind == KindSet && n.Count > 0 && side.Count == 0 && side.Value == nil && side.Error == ""
}

// partOf returns a part of an expression, without its own parts if it is long.
func partOf(n *Node) string {
	if len(n.Expr) <= maxPart || n.Short == "" {
		return n.Expr
	}
	const left = "..." // left out
	switch {
	case n.Kind == KindSubquery:
		return left + n.Short
	case n.Kind == KindFunction, n.Kind == KindAggregation && !strings.Contains(n.Short, " "):
		return n.Short + "(" + left + ")"
	case n.Kind == KindAggregation:
		return n.Short + " (" + left + ")"
	case len(n.Children) == 1 && !n.Cut:
		return n.Short + left
	}
	sides := [2]string{left, left}
	for i := range min(len(n.Children), len(sides)) {
		if n.Children[i].Kind == KindNumber && !n.Cut {
			sides[i] = n.Children[i].Expr
		}
	}
	return sides[0] + " " + n.Short + " " + sides[1]
}

// result returns the value of a part, or whether it is true.
func (t *textWriter) result(n *Node, truth bool) string {
	text := t.value(n)
	switch {
	case n.Error != "":
		text = "error: " + n.Error
	case n.Comparison != nil:
		text = holds(n)
	case n.Kind == KindFunction && strings.HasPrefix(n.Short, "absent"):
		text = strconv.FormatBool(n.Count > 0)
	case truth && n.Kind == KindSet:
		text = strconv.FormatBool(n.Count > 0)
		if n.Count > 1 {
			text += fmt.Sprintf(" for %d series", n.Count)
		}
	case truth && n.Count == 0 && n.Value == nil:
		text = "false: " + text
	case truth:
		text = "true: " + text
	}
	if !n.At.IsZero() {
		text += ", as of " + t.ago(n.At)
	}
	return text
}

// holds returns for how many elements a comparison holds.
func holds(n *Node) string {
	c := n.Comparison
	what, limit := "", ""
	if c.Threshold == nil && n.Value == nil && c.Of > 1 {
		what = " pairs"
	}
	literal := func(child *Node) bool { return child.Kind == KindNumber }
	if c.Threshold != nil && !slices.ContainsFunc(n.Children, literal) {
		limit = ": the limit is " + figure(*c.Threshold)
	}
	switch {
	case c.Of == 0:
		return "false: nothing to compare"
	case c.Of == 1:
		return strconv.FormatBool(c.True == 1) + limit
	case c.True == 0:
		return fmt.Sprintf("false for all %d%s%s", c.Of, what, limit)
	case c.True == c.Of:
		return fmt.Sprintf("true for all %d%s%s", c.Of, what, limit)
	}
	return fmt.Sprintf("true for %d of %d%s%s", c.True, c.Of, what, limit)
}

// value returns the number, the only element or the number of elements of a part, and
// what exports them.
func (t *textWriter) value(n *Node) string {
	var facts []string
	switch {
	case n.Value != nil:
		return figure(*n.Value)
	case n.Count == 0:
		return "no series" + lacking(n)
	case n.Count == 1 && len(n.Series) == 1:
		facts = append(facts, strings.TrimSpace(labelsText(n.Series[0].Labels, n.Expr)+" "+t.element(n.Series[0])))
	case t.single(n):
		facts = append(facts, apart(n, n.Series[0])+" "+t.element(n.Series[0]))
	default:
		facts = append(facts, strings.TrimSpace(fmt.Sprintf("%d series %s", n.Count, labelsText(shared(n), n.Expr))))
	}
	switch {
	case n.Own:
		facts = append(facts, "Vitals itself")
	case len(n.Collectors) > 1 && t.single(n) && n.Series[0].Collector != "":
		facts = append(facts, "collector "+n.Series[0].Collector)
	case len(n.Collectors) == 1:
		facts = append(facts, "collector "+n.Collectors[0])
	case len(n.Collectors) > 0:
		facts = append(facts, "collectors "+strings.Join(n.Collectors, ", "))
	case len(n.Recordings) > 0:
		facts = append(facts, "recorded")
	}
	return strings.Join(facts, ", ")
}

// lacking returns what could export the missing series of a part.
func lacking(n *Node) string {
	switch {
	case n.Kind != KindSelector && n.Kind != KindRange:
		return ""
	case n.Own:
		return " of Vitals itself"
	case len(n.Collectors) > 0:
		return " of collector " + strings.Join(n.Collectors, " or ")
	case len(n.Recordings) > 0:
		return ", recorded"
	}
	return ": no collector is known to export it"
}

// elements adds the lines of the elements of a part.
func (t *textWriter) elements(n *Node, depth int) {
	room := maxShownSeries
	if !t.whole {
		room = min(maxDecidingSeries, cmp.Or(n.Deciding, n.Count))
	}
	shown := n.Series[:min(len(n.Series), room)]
	for _, s := range shown {
		text := t.element(s)
		if len(n.Collectors) > 1 {
			text += ", collector " + s.Collector
		}
		if s.Holds != nil {
			text += ": " + strconv.FormatBool(*s.Holds)
		}
		t.add(depth, apart(n, s), text)
	}
	if more := n.Count - len(shown); more > 0 {
		t.add(depth, fmt.Sprintf("... and %d more", more), "")
	}
}

// apart returns the labels in which an element differs from the others of a part.
func apart(n *Node, s Series) string {
	all, own := shared(n), maps.Clone(s.Labels)
	maps.DeleteFunc(own, func(name, value string) bool { return all[name] == value })
	return cmp.Or(labelsText(own, n.Expr), "{}")
}

// shared returns the labels that all elements of a part have, where Series has them all.
func shared(n *Node) map[string]string {
	if len(n.Series) < n.Count || len(n.Series) == 0 {
		return nil
	}
	all := maps.Clone(n.Series[0].Labels)
	for _, s := range n.Series[1:] {
		maps.DeleteFunc(all, func(name, value string) bool { return s.Labels[name] != value })
	}
	return all
}

// element returns the value of an element of a vector or matrix.
func (t *textWriter) element(s Series) string {
	if s.First != nil && s.Last != nil {
		return fmt.Sprintf("%s from %s (%s) to %s (%s)", text.Plural(s.Samples, "sample"), figure(s.First.Value), t.ago(s.First.At), figure(s.Last.Value), t.ago(s.Last.At))
	}
	if s.Value == nil {
		return "no samples"
	}
	text := figure(*s.Value)
	if !s.SampleAt.IsZero() {
		text += ", " + t.ago(s.SampleAt)
	}
	return text
}

// recording adds the lines of a recording rule and its tree.
func (t *textWriter) recording(r Recording, depth int) {
	text := "recording rule " + r.Name + labelsText(r.Labels, "") + " of the group " + r.Group
	for _, at := range []struct {
		time time.Time
		what string
	}{{r.Evaluated, "evaluated "}, {r.AsOf, "as of "}} {
		if !at.time.IsZero() {
			text += ", " + at.what + t.ago(at.time)
		}
	}
	if r.Error != "" {
		text += ", error: " + r.Error
	}
	if r.Tree == nil {
		t.add(depth, text+": "+r.Expr, "")
		return
	}
	t.add(depth, text, "")
	t.node(r.Tree, depth+1, false)
}

// labelsText returns the labels that the expression does not contain.
func labelsText(ls map[string]string, expr string) string {
	name := ls[model.MetricNameLabel]
	if strings.Contains(expr, name) {
		name = ""
	}
	var pairs []string
	for _, label := range slices.Sorted(maps.Keys(ls)) {
		pair := label + "=" + strconv.Quote(ls[label])
		if label != model.MetricNameLabel && !strings.Contains(expr, pair) {
			pairs = append(pairs, pair)
		}
	}
	if len(pairs) == 0 {
		return name
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}
