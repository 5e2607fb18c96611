package lint

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// regexMatchesAll finds matchers with regular expressions that exclude nothing: they match
// any text, or every value that the label can have. It is a remark in rules that feed no state.
func regexMatchesAll(p *pass, s *subject) {
	for _, n := range selectors(s.rule.AST) {
		for _, m := range n.LabelMatchers {
			if m.Name == model.MetricNameLabel || m.Type != labels.MatchRegexp && m.Type != labels.MatchNotRegexp {
				continue
			}
			if why := p.leavesNothingOut(n, m); why != "" {
				f := p.atWord(s, n, `\b(`+regexp.QuoteMeta(m.Name)+`)"?\s*(?:=~|!~)`, "remove the matcher, or list the intended values",
					"the matcher %s excludes nothing: %s", m, why)
				if !p.feeding[s] {
					f.Severity = Info // no probe depends on it
				}
			}
		}
	}
}

// leavesNothingOut explains why a matcher with a regular expression matches all series. It
// is empty if it does not.
func (p *pass) leavesNothingOut(n *parser.VectorSelector, m *labels.Matcher) string {
	if m.Type == labels.MatchRegexp && matchesAll(m.Value) {
		return "it matches every value, and series without the label too"
	}
	is := p.values(n)
	values := is.labels[m.Name].values()
	if !is.known() || len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return !m.Matches(v) }) {
		return ""
	}
	switch {
	case m.Matches("anything else") && !m.Matches(""):
		return fmt.Sprintf("every series of %s has the label %s", promexpr.MetricName(n), m.Name)
	case own(promexpr.MetricName(n)) && isSet(m.Name) && m.Type == labels.MatchRegexp && len(values) > 1:
		return fmt.Sprintf("%s is always one of %s", m.Name, strings.Join(values, ", "))
	}
	return ""
}

// isSet reports whether the program itself defines the values of a label. Values that come
// from a configuration may match by chance.
func isSet(label string) bool {
	return slices.Contains([]string{"reason", "state", "status", "result"}, label)
}

// matchesAll reports whether the regular expression of a matcher matches every value,
// including that of a missing label.
func matchesAll(expr string) bool {
	re, err := syntax.Parse(expr, syntax.Perl|syntax.DotNL)
	return err == nil && isAll(re.Simplify())
}

func isAll(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar:
		return re.Sub[0].Op == syntax.OpAnyChar
	case syntax.OpCapture:
		return isAll(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, isAll)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !isAll(sub) && !isAnchor(sub) }) &&
			slices.ContainsFunc(re.Sub, isAll)
	}
	return false
}

// isAnchor reports whether an expression matches an end of the text. Matchers are anchored
// anyway.
func isAnchor(re *syntax.Regexp) bool {
	return re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText
}
