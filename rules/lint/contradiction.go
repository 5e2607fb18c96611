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
func (p *pass) contradictory(n *parser.BinaryExpr) string {
	for _, pair := range [][2]parser.Expr{{n.LHS, n.RHS}, {n.RHS, n.LHS}} {
		if !p.traits(pair[0]).absent {
			continue
		}
		for _, gone := range p.requires(pair[0], beGone) {
			for _, there := range p.requires(pair[1], beThere) {
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
		same := func(other *labels.Matcher) bool {
			return other.Value == m.Value && other.Name == m.Name && other.Type == m.Type
		}
		if !slices.ContainsFunc(s.LabelMatchers, same) {
			return false
		}
	}
	return true
}

// demand is what a result requires of the series of a selector.
type demand int

const (
	// beThere: without the series there is no result.
	beThere demand = iota
	// beGone: with the series there is no result.
	beGone
)

// requirement identifies a list of selectors: those that an expression requires.
type requirement struct {
	of parser.Expr
	is demand
}

// requires returns selectors that an expression requires, but not all of them. Its result
// grows from those of the operands, each of which belongs to one expression.
func (p *pass) requires(e parser.Expr, is demand) []*parser.VectorSelector {
	key := requirement{e, is}
	found, ok := p.required[key]
	if !ok {
		found = p.requiredBy(e, is)
		p.required[key] = found
	}
	return found
}

func (p *pass) requiredBy(e parser.Expr, is demand) []*parser.VectorSelector {
	switch n := e.(type) {
	case *parser.VectorSelector:
		if is == beThere {
			return []*parser.VectorSelector{n}
		}
	case *parser.BinaryExpr:
		switch {
		case n.Op == parser.LOR || filled(n):
			return nil
		case n.Op == parser.LUNLESS:
			return p.requires(n.LHS, is)
		}
		return append(p.requires(n.LHS, is), p.requires(n.RHS, is)...)
	case *parser.Call:
		return p.requiredByCall(n, is)
	}
	if inner := operand(e); inner != nil {
		return p.requires(inner, is)
	}
	return nil
}

// requiredByCall follows the first argument of a function that has one result for each of
// its series.
func (p *pass) requiredByCall(n *parser.Call, is demand) []*parser.VectorSelector {
	if len(n.Args) == 0 {
		return nil
	}
	if s, ok := promexpr.Bare(n.Args[0]).(*parser.VectorSelector); ok && is == beGone && n.Func.Name == "absent" {
		return []*parser.VectorSelector{s}
	}
	if n.Args[0].Type() != parser.ValueTypeVector || !keepsEverySeries(n.Func.Name) {
		return nil
	}
	return p.requires(n.Args[0], is)
}
