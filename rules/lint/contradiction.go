package lint

import (
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// contradiction explains why no series can satisfy the matchers, and returns a cure. Both
// are empty if a series can.
func contradiction(matchers []*labels.Matcher) (text, cure string) {
	for i, m := range matchers {
		if m.Type == labels.MatchNotRegexp && matchesAll(m.Value) {
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
		if values, ok := onlyValues(pair[0]); ok {
			return !slices.ContainsFunc(values, pair[1].Matches)
		}
	}
	opposite, err := a.Inverse()
	return err == nil && opposite.Type == b.Type && opposite.Value == b.Value
}

// onlyValues returns the values that a matcher allows, if it lists them.
func onlyValues(m *labels.Matcher) (values []string, ok bool) {
	switch m.Type {
	case labels.MatchEqual:
		return []string{m.Value}, true
	case labels.MatchRegexp:
		values = m.SetMatches()
		return values, len(values) > 0
	}
	return nil, false
}

// contradictory explains why the two sides of an operation cannot both have a result: one
// side requires the absence of series that the other side selects. It is empty if they can.
func (a *analyzer) contradictory(n *parser.BinaryExpr) string {
	if !a.pass.traits(n).absent {
		return ""
	}
	for _, pair := range [][2]parser.Expr{{n.LHS, n.RHS}, {n.RHS, n.LHS}} {
		for _, gone := range denied(pair[0]) {
			for _, there := range needed(pair[1]) {
				if isAmong(there, gone) {
					return fmt.Sprintf("one side requires that %s is absent, the other side requires it", short(gone))
				}
			}
		}
	}
	return ""
}

// isAmong reports whether the selector all also selects everything that s selects.
func isAmong(s, all *parser.VectorSelector) bool {
	if s.OriginalOffset != all.OriginalOffset || s.Timestamp != nil || all.Timestamp != nil ||
		s.StartOrEnd != 0 || all.StartOrEnd != 0 {
		return false
	}
	for _, m := range all.LabelMatchers {
		same := func(other *labels.Matcher) bool { return other.String() == m.String() }
		if !slices.ContainsFunc(s.LabelMatchers, same) {
			return false
		}
	}
	return true
}

// needed returns selectors without which an expression has no result. denied returns
// selectors with which it has no result. Neither list is complete.
func needed(e parser.Expr) []*parser.VectorSelector {
	switch n := e.(type) {
	case *parser.VectorSelector:
		return []*parser.VectorSelector{n}
	case *parser.Call:
		return throughCall(n, needed)
	}
	return through(e, needed)
}

func denied(e parser.Expr) []*parser.VectorSelector {
	if n, ok := e.(*parser.Call); ok && len(n.Args) > 0 {
		if s, ok := promexpr.Bare(n.Args[0]).(*parser.VectorSelector); ok && n.Func.Name == "absent" {
			return []*parser.VectorSelector{s}
		}
		return throughCall(n, denied)
	}
	return through(e, denied)
}

// throughCall follows the first argument of a function that has one result for each of its
// series.
func throughCall(n *parser.Call, follow func(parser.Expr) []*parser.VectorSelector) []*parser.VectorSelector {
	if len(n.Args) == 0 || n.Args[0].Type() != parser.ValueTypeVector || !keepsEverySeries(n.Func.Name) {
		return nil
	}
	return follow(n.Args[0])
}

// through follows the operands without which an expression has no result.
func through(e parser.Expr, follow func(parser.Expr) []*parser.VectorSelector) []*parser.VectorSelector {
	if n, ok := e.(*parser.BinaryExpr); ok {
		switch {
		case n.Op == parser.LOR || filled(n):
			return nil
		case n.Op == parser.LUNLESS:
			return follow(n.LHS)
		}
		return append(follow(n.LHS), follow(n.RHS)...)
	}
	if inner := operand(e); inner != nil {
		return follow(inner)
	}
	return nil
}
