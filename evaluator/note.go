package evaluator

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

// maxNote bounds a collector's note, in bytes: the first line of an exec probe, of 500
// bytes, must also have room for the rule and its value.
const maxNote = 200

// noteOf returns a collector's note on its last collection as one line without secrets.
func noteOf(c collectors.Collector) string {
	n, ok := c.(collectors.Noter)
	if !ok {
		return ""
	}
	return text.Clip(strings.TrimSpace(text.OneLine(redact.Text(n.Note()))), maxNote)
}

// noteOn returns the notes of the collectors that a rule depends on: those that the
// labels of the deciding alert name, the first of alerts, or else those that the rule
// names. An aggregation may have dropped such labels, and a rule without evidence has no
// alert.
func (c *core) noteOn(a *alerting, alerts []Alert) string {
	if a.status == OK {
		return ""
	}
	if len(alerts) > 0 {
		var names []string
		alerts[0].Labels.Range(func(l labels.Label) {
			if NamesCollector(l.Name) {
				names = append(names, l.Value)
			}
		})
		if note := c.notes(names); note != "" {
			return note
		}
	}
	return c.notes(a.names)
}

// notes joins the notes of the collectors of these names, in the configuration's order.
func (c *core) notes(names []string) string {
	var all []string
	for _, s := range c.sources {
		if s.status.Note != "" && slices.Contains(names, s.Name) {
			all = append(all, s.status.Note)
		}
	}
	return bound(strings.Join(all, "; "))
}

// collectorNames returns the values of the rule's own labels and of the matchers in its
// expression. What follows "unless" is no cause: it excuses.
func collectorNames(r rules.Rule) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		if NamesCollector(name) {
			names = append(names, r.Labels[name])
		}
	}
	parser.Inspect(r.AST, func(n parser.Node, path []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && !excuses(append(path, n)) {
			for _, m := range s.LabelMatchers {
				if m.Type == labels.MatchEqual && NamesCollector(m.Name) {
					names = append(names, m.Value)
				}
			}
		}
		return nil
	})
	return names
}

// excuses reports whether a path of nodes, from the root to a selector, leads over the right
// side of "unless".
func excuses(path []parser.Node) bool {
	for i, n := range path {
		if b, ok := n.(*parser.BinaryExpr); ok && b.Op == parser.LUNLESS && parser.Node(b.RHS) == path[i+1] {
			return true
		}
	}
	return false
}

// NamesCollector reports whether the value of a label may be the name of a collector. The
// values of the others have other meanings, even if they are the same words.
func NamesCollector(label string) bool {
	switch label {
	case model.MetricNameLabel, model.AlertNameLabel, "state", "severity":
		return false
	}
	return true
}
