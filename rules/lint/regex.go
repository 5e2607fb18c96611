package lint

import (
	"regexp/syntax"
	"slices"
)

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
