package selectors

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/shapes"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// unknownLabel finds labels that no series has where they are used: a matcher then matches
// nothing, all series form one group, and two sides never match.
func unknownLabel(p *check.Pass, s *analysis.Subject) {
	syntax.Nodes(s.Rule.AST, func(n parser.Node) {
		switch n := n.(type) {
		case *parser.VectorSelector:
			matcherLabels(p, s, n)
		case *parser.AggregateExpr:
			groupLabels(p, s, n)
		case *parser.Call:
			sourceLabels(p, s, n)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				matchingLabels(p, s, n, p.Shape(n.LHS), p.Shape(n.RHS))
			}
		}
	})
}

// matcherLabels checks the labels of a selector's matchers.
func matcherLabels(p *check.Pass, s *analysis.Subject, n *parser.VectorSelector) {
	is := p.SeriesOf(promexpr.MetricName(n))
	for _, m := range syntax.Without(n.LabelMatchers, model.MetricNameLabel) {
		if is.Declares(m.Name) {
			continue
		}
		cure := check.Suggest(m.Name, is.Names())
		text := fmt.Sprintf("%s has no label %s", promexpr.MetricName(n), m.Name)
		if !is.Lacks(m.Name) {
			if m.Matches("") || !p.Feeds(s) {
				continue // it has the same effect with and without the label
			}
			text += ", which Prometheus adds when it scrapes: in Vitals the selector matches nothing"
			cure = "remove the matcher, or make it match an empty value as well"
		}
		p.AtWord(s, n, `[{,]\s*"?(`+regexp.QuoteMeta(m.Name)+`)"?\s*[=!]`, cure, "%s", text)
	}
}

// groupLabels checks the labels of an aggregation's by or without.
func groupLabels(p *check.Pass, s *analysis.Subject, n *parser.AggregateExpr) {
	is := p.Shape(n.Expr)
	for _, label := range n.Grouping {
		if !is.Lacks(label) {
			continue
		}
		clause, severity := "by", dropped(p, is, label)
		if n.Without {
			clause, severity = "without", check.Warning
		}
		atClause(p, s, n, clause, label, is, "no series has the label %s that is aggregated %s", label, clause).Severity = severity
	}
}

// matchingLabels checks the labels on which the sides of an operator are matched.
func matchingLabels(p *check.Pass, s *analysis.Subject, n *parser.BinaryExpr, left, right shapes.Shape) {
	m := n.VectorMatching
	clause, verb := "ignoring", "is ignored"
	if m.On {
		clause, verb = "on", "is matched on"
	}
	both := left.Or(right)
	unmatched, _ := p.Unmatched(n)
	for _, label := range m.MatchingLabels {
		if !left.Some || !right.Some {
			continue
		}
		severity := check.Warning
		if m.On {
			severity = dropped(p, both, label)
		}
		switch inLeft, inRight := !left.Lacks(label), !right.Lacks(label); {
		case !inLeft && !inRight:
			atClause(p, s, n, clause, label, both, "neither side has the label %s that %s", label, verb).Severity = severity
		case m.On && inLeft != inRight && n.Op != parser.LOR && unmatched == "": // otherwise the rule never fires
			side, other := "left", left
			if inLeft {
				side, other = "right", right
			}
			atClause(p, s, n, clause, label, other, "the %s side has no label %s, so nothing matches on it", side, label).Severity = check.Warning
		}
	}
	one, group := right, "group_left"
	if m.Card == parser.CardOneToMany {
		one, group = left, "group_right"
	}
	for _, label := range m.Include {
		if one.Lacks(label) {
			atClause(p, s, n, group, label, one, "%s copies the label %s, which that side does not have", group, label).Severity = dropped(p, one, label)
		}
	}
}

// dropped returns the severity for a label that a result lacks. Labels that Prometheus adds
// are often listed in case they are there.
func dropped(p *check.Pass, is shapes.Shape, label string) check.Severity {
	if shapes.Added(label) || !is.Known() {
		return check.Warning
	}
	return p.Current.Severity
}

// atClause reports a label in a clause such as by (...).
func atClause(p *check.Pass, s *analysis.Subject, n parser.Node, clause, label string, is shapes.Shape, text string, args ...any) *check.Finding {
	pattern := `\b` + clause + `\s*\([^()]*?\b(` + regexp.QuoteMeta(label) + `)\b`
	return p.AtWord(s, n, pattern, check.Suggest(label, is.Names()), text, args...)
}

// unknownValue finds matchers that match none of the values of a label.
func unknownValue(p *check.Pass, s *analysis.Subject) {
	for _, n := range syntax.Selectors(s.Rule.AST) {
		is, wrong := shapeOf(p, n), false
		for _, m := range syntax.Without(n.LabelMatchers, model.MetricNameLabel) {
			values, ok := is.Labels[m.Name]
			// A matcher that accepts a missing label requires no value.
			if !is.Known() || !ok || values.Open || m.Matches("") || !values.Matching(m).Empty() {
				continue
			}
			wrong = true
			f := p.AtWord(s, n, `\b`+regexp.QuoteMeta(m.Name)+`"?\s*(?:=~|!~|!=|=)\s*(["'`+"`"+`])`, suggestValue(m, values.Texts),
				"no series of %s matches %s", promexpr.MetricName(n), m)
			if name := promexpr.MetricName(n); !p.SeriesOf(name).Known() && !analysis.OfAlerts(name) {
				f.Cure += fmt.Sprintf(" (the target's own label %s becomes exported_%[1]s)", m.Name)
				if !p.Feeds(s) {
					f.Severity = check.Warning // an alert for a Prometheus with other targets
				}
			}
		}
		if !wrong && is.Known() && !hasSource(p, n) {
			p.InExpr(s, n, "check which of the values occur together", "no series matches all of %s", n)
		}
	}
}

func suggestValue(m *labels.Matcher, values []string) string {
	if m.Type == labels.MatchEqual {
		return check.Suggest(m.Value, values)
	}
	return check.Suggest("", values)
}

// shapeOf returns the shape of all series of a name, including those of other programs.
func shapeOf(p *check.Pass, n *parser.VectorSelector) shapes.Shape {
	name := promexpr.MetricName(n)
	is := p.SeriesOf(name)
	if analysis.OfAlerts(name) {
		names := []string{""}
		for _, s := range p.Subjects {
			names = append(names, s.Rule.Alert)
		}
		if !p.Options.Complete {
			names = nil
		}
		return shapes.Shape{Some: true, Labels: map[string]shapes.Domain{"alertname": shapes.OfTexts(names), "alertstate": shapes.OfTexts([]string{"pending", "firing"})}}
	}
	if is.Known() || name == "" || analysis.Own(name) || p.Options.Vocabulary == nil || len(p.Recorded[name]) > 0 {
		return is
	}
	passed := analysis.SeriesOfMetrics(p.Options.Vocabulary.Others)
	passed.Rest = shapes.NoOther
	return passed
}

// hasSource reports whether a source can match a selector. It returns true if that is
// unknown.
func hasSource(p *check.Pass, n *parser.VectorSelector) bool {
	for _, m := range syntax.Without(n.LabelMatchers, model.MetricNameLabel) {
		if !shapeOf(p, n).Declares(m.Name) {
			return true // reported elsewhere, or a label of another program
		}
	}
	strict := *n
	strict.LabelMatchers = slices.DeleteFunc(slices.Clone(n.LabelMatchers), func(m *labels.Matcher) bool { return m.Matches("") })
	return analysis.OfAlerts(promexpr.MetricName(n)) || len(p.Recorded[promexpr.MetricName(n)]) > 0 || len(p.Sources(&strict)) > 0
}

// sourceLabels checks the labels that label_replace and label_join read. A constant
// replacement with an expression that also matches a missing label reads none on purpose.
func sourceLabels(p *check.Pass, s *analysis.Subject, n *parser.Call) {
	name := n.Func.Name
	if name != "label_replace" && name != "label_join" {
		return
	}
	const first = 3 // after the vector, the new label, and the replacement or separator
	sources := n.Args[min(first, len(n.Args)):]
	if name == "label_replace" {
		sources = sources[:1]
		if !strings.Contains(syntax.Literal(n.Args[2]), "$") && matchesNothing(syntax.Literal(n.Args[first+1])) {
			return
		}
	}
	is := p.Shape(n.Args[0])
	for _, arg := range sources {
		label := syntax.Literal(arg)
		if label == "" || !is.Lacks(label) {
			continue
		}
		p.InExpr(s, arg, check.Suggest(label, is.Names()), "no series has the label %s that %s reads", label, name).Severity = check.Warning
	}
}

// matchesNothing reports whether an anchored expression matches the empty text.
func matchesNothing(expr string) bool {
	re, err := regexp.Compile("^(?s:" + expr + ")$")
	return err == nil && re.MatchString("")
}
