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
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// regexMatchesAll finds matchers with regular expressions that exclude nothing: they match
// any text, or every value that the label can have. It is a remark in rules that feed no state.
func regexMatchesAll(p *check.Pass, s *analysis.Subject) {
	for _, n := range syntax.Selectors(s.Rule.AST) {
		for _, m := range n.LabelMatchers {
			if m.Name == model.MetricNameLabel || m.Type != labels.MatchRegexp && m.Type != labels.MatchNotRegexp {
				continue
			}
			if why := leavesNothingOut(p, n, m); why != "" {
				f := p.AtWord(s, n, `\b(`+regexp.QuoteMeta(m.Name)+`)"?\s*(?:=~|!~)`, "remove the matcher, or list the intended values",
					"the matcher %s excludes nothing: %s", m, why)
				if !p.Feeds(s) {
					f.Severity = check.Info // no probe depends on it
				}
			}
		}
	}
}

// leavesNothingOut explains why a matcher with a regular expression matches all series. It
// is empty if it does not.
func leavesNothingOut(p *check.Pass, n *parser.VectorSelector, m *labels.Matcher) string {
	if m.Type == labels.MatchRegexp && syntax.MatchesAll(m.Value) {
		return "it matches every value, and series without the label too"
	}
	is := shapeOf(p, n)
	values := is.Labels[m.Name].Values()
	if !is.Known() || len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return !m.Matches(v) }) {
		return ""
	}
	switch {
	case m.Matches("anything else") && !m.Matches(""):
		return fmt.Sprintf("every series of %s has the label %s", promexpr.MetricName(n), m.Name)
	case analysis.Own(promexpr.MetricName(n)) && isSet(m.Name) && m.Type == labels.MatchRegexp && len(values) > 1:
		return fmt.Sprintf("%s is always one of %s", m.Name, strings.Join(values, ", "))
	}
	return ""
}

// isSet reports whether the program itself defines the values of a label. Values that come
// from a configuration may match by chance.
func isSet(label string) bool {
	return slices.Contains([]string{"reason", "state", "status", "result"}, label)
}
