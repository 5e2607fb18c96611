package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// unknownLabel finds labels that no series has where they are used: a matcher then matches
// nothing, all series form one group, and two sides never match.
func unknownLabel(p *pass, s *subject) {
	p.nodes(s, func(n parser.Node) {
		switch n := n.(type) {
		case *parser.VectorSelector:
			p.matcherLabels(s, n)
		case *parser.AggregateExpr:
			p.groupLabels(s, n)
		case *parser.Call:
			p.sourceLabels(s, n)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				p.matchingLabels(s, n, p.shape(n.LHS), p.shape(n.RHS))
			}
		}
	})
}

// matcherLabels checks the labels of a selector's matchers.
func (p *pass) matcherLabels(s *subject, n *parser.VectorSelector) {
	is := p.ofName(promexpr.MetricName(n))
	for _, m := range without(n.LabelMatchers, model.MetricNameLabel) {
		if is.declares(m.Name) {
			continue
		}
		cure := suggest(m.Name, is.names())
		text := fmt.Sprintf("%s has no label %s", promexpr.MetricName(n), m.Name)
		if !is.lacks(m.Name) {
			if m.Matches("") || !p.feeding[s] {
				continue // it has the same effect with and without the label
			}
			text += ", which Prometheus adds when it scrapes: in Vitals the selector matches nothing"
			cure = "remove the matcher, or make it match an empty value as well"
		}
		p.atWord(s, n, `[{,]\s*"?(`+regexp.QuoteMeta(m.Name)+`)"?\s*[=!]`, cure, "%s", text)
	}
}

// groupLabels checks the labels of an aggregation's by or without.
func (p *pass) groupLabels(s *subject, n *parser.AggregateExpr) {
	is := p.shape(n.Expr)
	for _, label := range n.Grouping {
		if !is.lacks(label) {
			continue
		}
		clause, severity := "by", p.dropped(is, label)
		if n.Without {
			clause, severity = "without", Warning
		}
		p.atClause(s, n, clause, label, is, "no series has the label %s that is aggregated %s", label, clause).Severity = severity
	}
}

// matchingLabels checks the labels on which the sides of an operator are matched.
func (p *pass) matchingLabels(s *subject, n *parser.BinaryExpr, left, right shape) {
	m := n.VectorMatching
	clause, verb := "ignoring", "is ignored"
	if m.On {
		clause, verb = "on", "is matched on"
	}
	both := left.or(right)
	unmatched, _ := p.unmatched(n)
	for _, label := range m.MatchingLabels {
		if !left.some || !right.some {
			continue
		}
		severity := Warning
		if m.On {
			severity = p.dropped(both, label)
		}
		switch inLeft, inRight := !left.lacks(label), !right.lacks(label); {
		case !inLeft && !inRight:
			p.atClause(s, n, clause, label, both, "neither side has the label %s that %s", label, verb).Severity = severity
		case m.On && inLeft != inRight && n.Op != parser.LOR && unmatched == "": // otherwise the rule never fires
			side, other := "left", left
			if inLeft {
				side, other = "right", right
			}
			p.atClause(s, n, clause, label, other, "the %s side has no label %s, so nothing matches on it", side, label).Severity = Warning
		}
	}
	one, group := right, "group_left"
	if m.Card == parser.CardOneToMany {
		one, group = left, "group_right"
	}
	for _, label := range m.Include {
		if one.lacks(label) {
			p.atClause(s, n, group, label, one, "%s copies the label %s, which that side does not have", group, label).Severity = p.dropped(one, label)
		}
	}
}

// dropped returns the severity for a label that a result lacks. Labels that Prometheus adds
// are often listed in case they are there.
func (p *pass) dropped(is shape, label string) Severity {
	if added(label) || !is.known() {
		return Warning
	}
	return p.current.Severity
}

// atClause reports a label in a clause such as by (...).
func (p *pass) atClause(s *subject, n parser.Node, clause, label string, is shape, text string, args ...any) *Finding {
	pattern := `\b` + clause + `\s*\([^()]*?\b(` + regexp.QuoteMeta(label) + `)\b`
	return p.atWord(s, n, pattern, suggest(label, is.names()), text, args...)
}

// unknownValue finds matchers that match none of the values of a label.
func unknownValue(p *pass, s *subject) {
	for _, n := range selectors(s.rule.AST) {
		is, wrong := p.values(n), false
		for _, m := range without(n.LabelMatchers, model.MetricNameLabel) {
			values, ok := is.labels[m.Name]
			// A matcher that accepts a missing label requires no value.
			if !is.known() || !ok || values.open || m.Matches("") || !values.matching(m).empty() {
				continue
			}
			wrong = true
			f := p.atWord(s, n, `\b`+regexp.QuoteMeta(m.Name)+`"?\s*(?:=~|!~|!=|=)\s*(["'`+"`"+`])`, suggestValue(m, values.texts),
				"no series of %s matches %s", promexpr.MetricName(n), m)
			if name := promexpr.MetricName(n); !p.ofName(name).known() && !ofAlerts(name) {
				f.Cure += fmt.Sprintf(" (the target's own label %s becomes exported_%[1]s)", m.Name)
				if !p.feeding[s] {
					f.Severity = Warning // an alert for a Prometheus with other targets
				}
			}
		}
		if !wrong && is.known() && !p.matched(n) {
			p.inExpr(s, n, "check which of the values occur together", "no series matches all of %s", n)
		}
	}
}

func suggestValue(m *labels.Matcher, values []string) string {
	if m.Type == labels.MatchEqual {
		return suggest(m.Value, values)
	}
	return suggest("", values)
}

// values returns the shape of all series of a name, including those of other programs.
func (p *pass) values(n *parser.VectorSelector) shape {
	name := promexpr.MetricName(n)
	is := p.ofName(name)
	if ofAlerts(name) {
		names := []string{""}
		for _, s := range p.subjects {
			names = append(names, s.rule.Alert)
		}
		if !p.opts.Complete {
			names = nil
		}
		return shape{some: true, labels: map[string]domain{"alertname": ofTexts(names), "alertstate": ofTexts([]string{"pending", "firing"})}}
	}
	if is.known() || name == "" || own(name) || p.opts.Vocabulary == nil || len(p.recorded[name]) > 0 {
		return is
	}
	passed := exportedBy(p.opts.Vocabulary.Others)
	passed.rest = noOther
	return passed
}

// matched reports whether a source can match a selector. It returns true if that is
// unknown.
func (p *pass) matched(n *parser.VectorSelector) bool {
	for _, m := range without(n.LabelMatchers, model.MetricNameLabel) {
		if !p.values(n).declares(m.Name) {
			return true // reported elsewhere, or a label of another program
		}
	}
	strict := *n
	strict.LabelMatchers = slices.DeleteFunc(slices.Clone(n.LabelMatchers), func(m *labels.Matcher) bool { return m.Matches("") })
	return ofAlerts(promexpr.MetricName(n)) || len(p.recorded[promexpr.MetricName(n)]) > 0 || len(p.sources(&strict)) > 0
}

// sourceLabels checks the labels that label_replace and label_join read. A constant
// replacement with an expression that also matches a missing label reads none on purpose.
func (p *pass) sourceLabels(s *subject, n *parser.Call) {
	name := n.Func.Name
	if name != "label_replace" && name != "label_join" {
		return
	}
	const first = 3 // after the vector, the new label, and the replacement or separator
	sources := n.Args[min(first, len(n.Args)):]
	if name == "label_replace" {
		sources = sources[:1]
		if !strings.Contains(literal(n.Args[2]), "$") && matchesNothing(literal(n.Args[first+1])) {
			return
		}
	}
	is := p.shape(n.Args[0])
	for _, arg := range sources {
		label := literal(arg)
		if label == "" || !is.lacks(label) {
			continue
		}
		p.inExpr(s, arg, suggest(label, is.names()), "no series has the label %s that %s reads", label, name).Severity = Warning
	}
}

// matchesNothing reports whether an anchored expression matches the empty text.
func matchesNothing(expr string) bool {
	re, err := regexp.Compile("^(?s:" + expr + ")$")
	return err == nil && re.MatchString("")
}
