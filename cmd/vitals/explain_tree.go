package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/evaluator"
)

const (
	// maxPart is how long a part of an expression may be that is drawn with its own
	// parts, in bytes.
	maxPart = 100
	// maxDrawnSeries bounds the elements of a part that are drawn.
	maxDrawnSeries = 5
)

// node draws a part of an expression and what it says. asks is set for what the rule
// asks: whether there is anything at all.
func (t *explainText) node(n *evaluator.Node, depth int, asks bool) {
	t.add(depth, drawn(n), t.says(n, asks))
	t.named = append(t.named, n.Collectors...)
	if n.Count > 1 && (n.Comparison == nil || n.Comparison.Threshold == nil) {
		t.elements(n, depth+1)
	}
	for _, r := range n.Recordings {
		t.recording(r, depth+1)
	}
	for _, child := range n.Children {
		if child.Kind != evaluator.KindNumber && child.Kind != evaluator.KindString {
			t.node(child, depth+1, asks && n.Kind == evaluator.KindSet)
		}
	}
	if n.Cut {
		t.add(depth+1, "...", "left out: the expression has too many parts")
	}
}

// drawn is a part of an expression, without its own parts if it is long.
func drawn(n *evaluator.Node) string {
	if len(n.Expr) <= maxPart || n.Short == "" {
		return n.Expr
	}
	const left = "..." // out
	switch {
	case n.Kind == evaluator.KindSubquery:
		return left + n.Short
	case n.Kind == evaluator.KindFunction, n.Kind == evaluator.KindAggregation && !strings.Contains(n.Short, " "):
		return n.Short + "(" + left + ")"
	case n.Kind == evaluator.KindAggregation:
		return n.Short + " (" + left + ")"
	case len(n.Children) == 1 && !n.Cut:
		return n.Short + left
	}
	sides := [2]string{left, left}
	for i := range min(len(n.Children), len(sides)) {
		if n.Children[i].Kind == evaluator.KindNumber && !n.Cut {
			sides[i] = n.Children[i].Expr
		}
	}
	return sides[0] + " " + n.Short + " " + sides[1]
}

// says is what a part of an expression comes to.
func (t *explainText) says(n *evaluator.Node, asks bool) string {
	text := t.value(n)
	switch {
	case n.Error != "":
		text = "error: " + n.Error
	case n.Comparison != nil:
		text = truth(n)
	case n.Kind == evaluator.KindFunction && strings.HasPrefix(n.Short, "absent"):
		text = strconv.FormatBool(n.Count > 0)
	case asks && n.Kind == evaluator.KindSet:
		text = strconv.FormatBool(n.Count > 0)
		if n.Count > 1 {
			text += fmt.Sprintf(" for %d series", n.Count)
		}
	case asks && n.Count == 0 && n.Value == nil:
		text = "false: " + text
	case asks:
		text = "true: " + text
	}
	if !n.At.IsZero() {
		text += ", as of " + t.ago(n.At)
	}
	return text
}

// truth says for what a comparison holds.
func truth(n *evaluator.Node) string {
	c := n.Comparison
	what, limit := "", ""
	if c.Threshold == nil && n.Value == nil && c.Of > 1 {
		what = " pairs"
	}
	literal := func(child *evaluator.Node) bool { return child.Kind == evaluator.KindNumber }
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

// value is the number, the only element or the number of elements of a part, and where
// they come from.
func (t *explainText) value(n *evaluator.Node) string {
	var facts []string
	switch {
	case n.Value != nil:
		return figure(*n.Value)
	case n.Count == 0:
		return "no series" + lacking(n)
	case n.Count == 1 && len(n.Series) == 1:
		facts = append(facts, strings.TrimSpace(labelsText(n.Series[0].Labels, n.Expr)+" "+t.element(n.Series[0])))
	default:
		facts = append(facts, strings.TrimSpace(fmt.Sprintf("%d series %s", n.Count, labelsText(shared(n), n.Expr))))
	}
	switch {
	case n.Own:
		facts = append(facts, "Vitals itself")
	case len(n.Collectors) == 1:
		facts = append(facts, "collector "+n.Collectors[0])
	case len(n.Collectors) > 0:
		facts = append(facts, "collectors "+strings.Join(n.Collectors, ", "))
	case len(n.Recordings) > 0:
		facts = append(facts, "recorded")
	}
	return strings.Join(facts, ", ")
}

// lacking says who could export what is not there.
func lacking(n *evaluator.Node) string {
	switch {
	case n.Kind != evaluator.KindSelector && n.Kind != evaluator.KindRange:
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

// elements draws the elements of a part.
func (t *explainText) elements(n *evaluator.Node, depth int) {
	shown := n.Series[:min(len(n.Series), maxDrawnSeries)]
	all := shared(n)
	for _, s := range shown {
		text := t.element(s)
		if len(n.Collectors) > 1 {
			text += ", collector " + s.Collector
		}
		if s.Holds != nil {
			text += ": " + strconv.FormatBool(*s.Holds)
		}
		own := maps.Clone(s.Labels)
		maps.DeleteFunc(own, func(name, value string) bool { return all[name] == value })
		left := labelsText(own, n.Expr)
		if left == "" {
			left = "{}"
		}
		t.add(depth, left, text)
	}
	if more := n.Count - len(shown); more > 0 {
		t.add(depth, fmt.Sprintf("... and %d more", more), "")
	}
}

// shared are the labels that all elements of a part have, where all are known.
func shared(n *evaluator.Node) map[string]string {
	if len(n.Series) < n.Count || len(n.Series) == 0 {
		return nil
	}
	all := maps.Clone(n.Series[0].Labels)
	for _, s := range n.Series[1:] {
		maps.DeleteFunc(all, func(name, value string) bool { return s.Labels[name] != value })
	}
	return all
}

// element is what an element of a vector or matrix says.
func (t *explainText) element(s evaluator.NodeSeries) string {
	if s.First != nil && s.Last != nil {
		return fmt.Sprintf("%s from %s (%s) to %s (%s)", count(s.Samples, "sample"), figure(s.First.Value), t.ago(s.First.At), figure(s.Last.Value), t.ago(s.Last.At))
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

// recording draws a recording rule and its tree.
func (t *explainText) recording(r evaluator.Recording, depth int) {
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

// labelsText writes the labels that the expression does not say itself.
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
