package lint

import (
	"regexp/syntax"
	"slices"
)

// matchesAll says whether a regular expression of a matcher matches every value, that of a
// missing label included.
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

// isAnchor says whether it matches an end of the text, which every matcher is about.
func isAnchor(re *syntax.Regexp) bool {
	return re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText
}
