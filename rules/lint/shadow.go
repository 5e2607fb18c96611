package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vitals-health/vitals/rules"
)

// shadowedRule finds rules without effect: another rule of the state fires whenever they
// do, is at least as severe and waits no longer. It compares rules with the same expression
// or the same subject only.
func shadowedRule(p *pass) {
	var all []*decision
	related := map[string][]int{}
	for _, s := range p.subjects {
		if s.rule.State == "" || s.rule.AST == nil || s.rule.Observe {
			continue
		}
		d := p.decide(s)
		for _, key := range d.keys() {
			related[key] = append(related[key], len(all))
		}
		all = append(all, d)
	}
	for i, d := range all {
		first := len(all)
		for _, key := range d.keys() {
			shadows := func(j int) bool { return i != j && all[j].shadows(d) && (!d.shadows(all[j]) || i > j) }
			if k := slices.IndexFunc(related[key], shadows); k >= 0 {
				first = min(first, related[key][k])
			}
		}
		if first < len(all) {
			p.shadowed(d, all[first])
		}
	}
}

func (p *pass) shadowed(d, by *decision) {
	why := "has the same expression"
	if by.id != d.id {
		why = fmt.Sprintf("is true while %s is %s, and so whenever this rule is", p.described(by.subject), by.values)
	}
	p.inExpr(d.of, d.of.rule.AST, "remove one of the two rules, or make their expressions different",
		"the rule %q at %s:%d %s: this rule has no effect", by.of.rule.Alert, by.of.file.Name, by.of.rule.Line, why)
}

// decision is a rule with the outcome of its expression, and the parts of the expression
// that never have a result.
type decision struct {
	of *subject
	id string
	outcome
	causes []cause
}

// decide returns the decision of a valid rule. It is computed once.
func (p *pass) decide(s *subject) *decision {
	d, ok := p.decisions[s]
	if !ok {
		a := analyzer{pass: p}
		d = &decision{of: s, id: p.identity(s.rule.AST), outcome: a.analyze(s.rule.AST)}
		d.causes = a.causes
		p.decisions[s] = d
	}
	return d
}

// keys returns keys of which rules of a state share one if one of them can shadow the other.
func (d *decision) keys() []string {
	keys := []string{d.of.rule.State + " is " + d.id}
	if d.pure {
		keys = append(keys, d.of.rule.State+" of "+d.subject)
	}
	return keys
}

// shadows reports whether other has no effect next to d. Rules that differ in their
// message, their receivers or their handling of missing data are there for that reason.
func (d *decision) shadows(other *decision) bool {
	a, b := d.of.rule, other.of.rule
	switch {
	case a.State != b.State || a.Severity != rules.SeverityCritical && a.Severity != b.Severity:
		return false
	case a.For > b.For || a.KeepFiringFor < b.KeepFiringFor:
		return false
	case d.of.group.Interval > other.of.group.Interval || d.of.group.QueryOffset != other.of.group.QueryOffset:
		return false
	case a.NoData != b.NoData || a.Annotations["exit_code"] != b.Annotations["exit_code"]:
		return false
	case !maps.Equal(routingLabels(a), routingLabels(b)):
		return false
	}
	return d.id == other.id || d.pure && other.pure && d.subject == other.subject && other.within(d.values)
}

// routingLabels returns the labels that route an alert to its receivers.
func routingLabels(r *rules.Rule) map[string]string {
	all := maps.Clone(r.Labels)
	delete(all, "state")
	delete(all, "severity")
	return all
}
