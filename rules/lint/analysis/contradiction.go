package analysis

import (
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// contradictory explains why the two sides of an operation cannot both have a result: one
// side requires the absence of series that the other side selects. It is empty if they can.
func (a *Analysis) contradictory(n *parser.BinaryExpr) string {
	for _, pair := range [][2]parser.Expr{{n.LHS, n.RHS}, {n.RHS, n.LHS}} {
		if !a.traits(pair[0]).absent {
			continue
		}
		for _, gone := range a.requires(pair[0], beGone) {
			for _, there := range a.requires(pair[1], beThere) {
				if isAmong(there, gone) {
					return fmt.Sprintf("one side requires that %s is absent, the other side requires it", syntax.Short(gone))
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
func (a *Analysis) requires(e parser.Expr, is demand) []*parser.VectorSelector {
	key := requirement{e, is}
	found, ok := a.required[key]
	if !ok {
		found = a.requiredBy(e, is)
		a.required[key] = found
	}
	return found
}

func (a *Analysis) requiredBy(e parser.Expr, is demand) []*parser.VectorSelector {
	switch n := e.(type) {
	case *parser.VectorSelector:
		if is == beThere {
			return []*parser.VectorSelector{n}
		}
	case *parser.BinaryExpr:
		switch {
		case n.Op == parser.LOR || syntax.Filled(n):
			return nil
		case n.Op == parser.LUNLESS:
			return a.requires(n.LHS, is)
		}
		return append(a.requires(n.LHS, is), a.requires(n.RHS, is)...)
	case *parser.Call:
		return a.requiredByCall(n, is)
	}
	if inner := syntax.Operand(e); inner != nil {
		return a.requires(inner, is)
	}
	return nil
}

// requiredByCall follows the first argument of a function that has one result for each of
// its series.
func (a *Analysis) requiredByCall(n *parser.Call, is demand) []*parser.VectorSelector {
	if len(n.Args) == 0 {
		return nil
	}
	if s, ok := promexpr.Bare(n.Args[0]).(*parser.VectorSelector); ok && is == beGone && n.Func.Name == "absent" {
		return []*parser.VectorSelector{s}
	}
	if n.Args[0].Type() != parser.ValueTypeVector || !syntax.KeepsEverySeries(n.Func.Name) {
		return nil
	}
	return a.requires(n.Args[0], is)
}
