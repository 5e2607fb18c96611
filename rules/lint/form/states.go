package form

import (
	"fmt"

	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// stateWithoutRules finds states that no rule decides: a state without an enforced rule
// always fails, and a state with warnings only never fails. alive and started need no
// rules.
func stateWithoutRules(p *check.Pass) {
	if p.Options.Partial {
		return // an invalid rule may decide it
	}
	for _, state := range p.Options.States {
		if state == "alive" || state == "started" {
			continue
		}
		var first *analysis.Subject
		enforced, decided := false, false
		for _, s := range p.Subjects {
			if s.Rule.State != state {
				continue
			}
			if first == nil {
				first = s
			}
			enforced, decided = enforced || !s.Rule.Observe, decided || s.Enforced()
		}
		switch {
		case decided:
		case first != nil:
			undecided(p, first, enforced)
		case p.Options.Complete && len(p.Files) == 0:
			p.Report(check.Finding{
				File: p.Options.Config, Line: 1, Col: 1, Cure: "list rule files in rule_files; without a probe that uses a state, none are needed",
				Text: fmt.Sprintf("there are no rule files: %s always fails, with the reason %q", state, "no rules"),
			}).Severity = check.Info // Vitals may run for its metrics alone
		case p.Options.Complete:
			cure := fmt.Sprintf("add the label state: %s to a rule", state)
			if state != "ready" { // ready cannot be removed
				cure += ", or remove the state from the configuration"
			}
			p.Report(check.Finding{
				File: p.Files[0].Name, Line: 1, Col: 1, Severity: check.Error, Cure: cure,
				Text: fmt.Sprintf("no rule has the state %s: it always fails, with the reason %q", state, "no rules"),
			})
		}
	}
}

// undecided reports a state whose rules cannot make it fail. first is one of them.
func undecided(p *check.Pass, first *analysis.Subject, enforced bool) {
	state := first.Rule.State
	cure := fmt.Sprintf("add a rule of %s with severity: critical and without mode: observe", state)
	switch {
	case !p.Options.Complete:
		p.At(first, "labels.state", cure+", or check this file together with the one that has it",
			"no rule here can make %s fail: each only warns or is observed", state).Severity = check.Warning
	case enforced:
		p.At(first, "labels.state", cure, "%s can never fail: its rules only warn or are observed", state).Severity = check.Warning
	default:
		p.At(first, "labels.state", cure, "all rules of %s are observed: it always fails, with the reason %q", state, "no rules").Severity = check.Error
	}
}
