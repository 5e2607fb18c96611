package syntax

import "github.com/prometheus/prometheus/promql/parser"

// Filled reports whether an operation fills in values for samples that match nothing.
func Filled(n *parser.BinaryExpr) bool {
	m := n.VectorMatching
	return m != nil && (m.FillValues.LHS != nil || m.FillValues.RHS != nil)
}

// SameLabels reports whether a vector operation matches samples on all labels.
func SameLabels(n *parser.BinaryExpr) bool {
	m := n.VectorMatching
	return m == nil || !m.On && len(m.MatchingLabels) == 0 &&
		(m.Card == parser.CardOneToOne || m.Card == parser.CardManyToMany)
}

// AnyLabels reports whether a vector operation matches every sample with every other one.
func AnyLabels(n *parser.BinaryExpr) bool {
	return n.VectorMatching != nil && n.VectorMatching.On && len(n.VectorMatching.MatchingLabels) == 0
}
