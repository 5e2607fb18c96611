package analysis

import (
	"fmt"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules/lint/shapes"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Unmatched finds a label on which the sides of an operator never match: all that they can
// have differs. It explains that and returns a cure; both are empty if the sides may match.
func (a *Analysis) Unmatched(n *parser.BinaryExpr) (text, cure string) {
	left, right := a.Shape(n.LHS), a.Shape(n.RHS)
	if n.VectorMatching == nil || n.Op == parser.LOR || syntax.Filled(n) || !left.Some || !right.Some {
		return "", ""
	}
	_, label := left.Matched(right, shapes.MatchedOn{VectorMatching: n.VectorMatching})
	if label == "" {
		return "", ""
	}
	cure = fmt.Sprintf(`match on labels that both sides have, as in "%s on (...)"; "on ()" matches everything`, n.Op)
	if n.VectorMatching.On {
		cure = `list only labels that both sides have in "on"`
	}
	return fmt.Sprintf("no label set of one side matches the other: on the left the label %s is %s, on the right it is %s",
		label, left.Of(label), right.Of(label)), cure
}

// neverGuards reports an "unless" whose right side never matches the left one.
func (a *analyzer) neverGuards(n *parser.BinaryExpr) bool {
	text, cure := a.in.Unmatched(n)
	if text != "" {
		a.causes = append(a.causes, Cause{Node: n, Text: text, Cure: cure, Idle: true})
	}
	return text != ""
}
