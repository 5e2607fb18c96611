package conditions

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// shadowedRule finds rules without effect: another rule of the state fires whenever they
// do, is at least as severe and waits no longer. It compares rules with the same expression
// or the same subject only.
func shadowedRule(p *check.Pass) {
	var all []*analysis.Decision
	related := map[string][]int{}
	for _, s := range p.Subjects {
		if s.Rule.State == "" || s.Rule.AST == nil || s.Rule.Observe {
			continue
		}
		d := p.Decision(s)
		for _, key := range keys(d) {
			related[key] = append(related[key], len(all))
		}
		all = append(all, d)
	}
	for i, d := range all {
		first := len(all)
		for _, key := range keys(d) {
			shadows := func(j int) bool { return i != j && shadows(all[j], d) && (!shadows(d, all[j]) || i > j) }
			if k := slices.IndexFunc(related[key], shadows); k >= 0 {
				first = min(first, related[key][k])
			}
		}
		if first < len(all) {
			shadowed(p, d, all[first])
		}
	}
}

func shadowed(p *check.Pass, d, by *analysis.Decision) {
	why := "has the same expression"
	if by.ID != d.ID {
		why = fmt.Sprintf("is true while %s is %s, and so whenever this rule is", p.Described(by.Subject), by.Values)
	}
	p.InExpr(d.Of, d.Of.Rule.AST, "remove one of the two rules, or make their expressions different",
		"the rule %q at %s:%d %s: this rule has no effect", by.Of.Rule.Alert, by.Of.File.Name, by.Of.Rule.Line, why)
}

// keys returns keys of which rules of a state share one if one of them can shadow the other.
func keys(d *analysis.Decision) []string {
	keys := []string{d.Of.Rule.State + " is " + d.ID}
	if d.Pure {
		keys = append(keys, d.Of.Rule.State+" of "+d.Subject)
	}
	return keys
}

// shadows reports whether other has no effect next to d. Rules that differ in their
// message, their receivers or their handling of missing data are there for that reason.
func shadows(d *analysis.Decision, other *analysis.Decision) bool {
	a, b := d.Of.Rule, other.Of.Rule
	switch {
	case a.State != b.State || a.Severity != rules.SeverityCritical && a.Severity != b.Severity:
		return false
	case a.For > b.For || a.KeepFiringFor < b.KeepFiringFor:
		return false
	case d.Of.Group.Interval > other.Of.Group.Interval || d.Of.Group.QueryOffset != other.Of.Group.QueryOffset:
		return false
	case a.NoData != b.NoData || a.Annotations["exit_code"] != b.Annotations["exit_code"]:
		return false
	case !maps.Equal(routingLabels(a), routingLabels(b)):
		return false
	}
	return d.ID == other.ID || d.Pure && other.Pure && d.Subject == other.Subject && other.Within(d.Values)
}

// routingLabels returns the labels that route an alert to its receivers.
func routingLabels(r *rules.Rule) map[string]string {
	all := maps.Clone(r.Labels)
	delete(all, "state")
	delete(all, "severity")
	return all
}
