package lint

import (
	"fmt"
	"maps"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

// shadowedRule finds rules without effect: another rule of the state fires whenever they
// do, is at least as severe and waits no longer.
func shadowedRule(p *pass) {
	var all []decision
	for _, s := range p.subjects {
		if s.rule.State != "" && s.rule.AST != nil && !s.rule.Observe {
			all = append(all, decision{s, (&analyzer{pass: p}).analyze(s.rule.AST)})
		}
	}
	for i, d := range all {
		for j, by := range all {
			if i == j || !by.shadows(d) || d.shadows(by) && i < j {
				continue
			}
			why := "has the same expression"
			if !by.same(d) {
				why = fmt.Sprintf("is true while %s is %s, and so whenever this rule is", quoted(by.is.subject), by.is.values)
			}
			p.inExpr(d.of, d.of.rule.AST, "remove one of the two rules, or make their expressions different",
				"the rule %q at %s:%d %s: this rule has no effect", by.of.rule.Alert, by.of.file.Name, by.of.rule.Line, why)
			break
		}
	}
}

// decision is a rule of a state with the outcome of its expression.
type decision struct {
	of *subject
	is outcome
}

func (d decision) same(other decision) bool {
	return promexpr.Bare(d.of.rule.AST).String() == promexpr.Bare(other.of.rule.AST).String()
}

// shadows reports whether other has no effect next to d. Rules that differ in their
// message, their receivers or their handling of missing data are there for that reason.
func (d decision) shadows(other decision) bool {
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
	return d.same(other) || d.is.pure && other.is.pure && d.is.subject == other.is.subject && other.is.within(d.is.values)
}

// routingLabels returns the labels that route an alert to its receivers.
func routingLabels(r *rules.Rule) map[string]string {
	all := maps.Clone(r.Labels)
	delete(all, "state")
	delete(all, "severity")
	return all
}
