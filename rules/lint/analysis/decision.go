package analysis

// Decision is a rule with the outcome of its expression, and the parts of the expression
// that never have a result.
type Decision struct {
	Of *Subject
	// ID is the identity of the expression.
	ID string
	Outcome
	Causes []Cause
}

// Decision returns the decision of a valid rule. It is computed once.
func (a *Analysis) Decision(s *Subject) *Decision {
	d, ok := a.decisions[s]
	if !ok {
		of := analyzer{in: a}
		d = &Decision{Of: s, ID: a.Identity(s.Rule.AST), Outcome: of.analyze(s.Rule.AST)}
		d.Causes = of.causes
		a.decisions[s] = d
	}
	return d
}
