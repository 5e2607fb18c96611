package syntax

import (
	"fmt"
	"regexp/syntax"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
)

// Contradiction explains why no series can satisfy the matchers, and returns a cure. Both
// are empty if a series can.
func Contradiction(matchers []*labels.Matcher) (text, cure string) {
	for i, m := range matchers {
		if m.Type == labels.MatchNotRegexp && MatchesAll(m.Value) {
			return fmt.Sprintf("%s excludes every series", m), "remove it, or exclude less"
		}
		for _, other := range matchers[:i] {
			if other.Name == m.Name && excludeEachOther(m, other) {
				return fmt.Sprintf("no series has both %s and %s", other, m), "keep one of the two; for either value write " + m.Name + `=~"a|b"`
			}
		}
	}
	return "", ""
}

// excludeEachOther reports whether two matchers of a label have no value in common.
func excludeEachOther(a, b *labels.Matcher) bool {
	if a.Matches("") && b.Matches("") {
		return false
	}
	for _, pair := range [][2]*labels.Matcher{{a, b}, {b, a}} {
		if values, ok := OnlyValues(pair[0]); ok {
			return !slices.ContainsFunc(values, pair[1].Matches)
		}
	}
	opposite, err := a.Inverse()
	return err == nil && opposite.Type == b.Type && opposite.Value == b.Value
}

// OnlyValues returns the values that a matcher allows, if it lists them.
func OnlyValues(m *labels.Matcher) (values []string, ok bool) {
	switch m.Type {
	case labels.MatchEqual:
		return []string{m.Value}, true
	case labels.MatchRegexp:
		values = m.SetMatches()
		return values, len(values) > 0
	}
	return nil, false
}

// Without returns the matchers of other labels.
func Without(want []*labels.Matcher, names ...string) []*labels.Matcher {
	return slices.DeleteFunc(slices.Clone(want), func(m *labels.Matcher) bool { return slices.Contains(names, m.Name) })
}

// MatchesAll reports whether the regular expression of a matcher matches every value,
// including that of a missing label.
func MatchesAll(expr string) bool {
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
