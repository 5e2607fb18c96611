package lint

import (
	"fmt"
)

// stateWithoutRules finds states that no rule decides: a state without an enforced rule
// always fails, and a state with warnings only never fails. alive and started need no
// rules.
func stateWithoutRules(p *pass) {
	if p.opts.Partial {
		return // an invalid rule may decide it
	}
	for _, state := range p.opts.States {
		if state == "alive" || state == "started" {
			continue
		}
		var first *subject
		enforced, decided := false, false
		for _, s := range p.subjects {
			if s.rule.State != state {
				continue
			}
			if first == nil {
				first = s
			}
			enforced, decided = enforced || !s.rule.Observe, decided || s.enforced()
		}
		switch {
		case decided:
		case first != nil:
			p.undecided(first, enforced)
		case p.opts.Complete && len(p.files) == 0:
			p.report(Finding{
				File: p.opts.Config, Line: 1, Col: 1, Cure: "list rule files in rule_files; without a probe that uses a state, none are needed",
				Text: fmt.Sprintf("there are no rule files: %s always fails, with the reason %q", state, "no rules"),
			}).Severity = Info // Vitals may run for its metrics alone
		case p.opts.Complete:
			cure := fmt.Sprintf("add the label state: %s to a rule", state)
			if state != "ready" { // ready cannot be removed
				cure += ", or remove the state from the configuration"
			}
			p.report(Finding{
				File: p.files[0].Name, Line: 1, Col: 1, Severity: Error, Cure: cure,
				Text: fmt.Sprintf("no rule has the state %s: it always fails, with the reason %q", state, "no rules"),
			})
		}
	}
}

// undecided reports a state whose rules cannot make it fail. first is one of them.
func (p *pass) undecided(first *subject, enforced bool) {
	state := first.rule.State
	cure := fmt.Sprintf("add a rule of %s with severity: critical and without mode: observe", state)
	switch {
	case !p.opts.Complete:
		p.at(first, "labels.state", cure+", or check this file together with the one that has it",
			"no rule here can make %s fail: each only warns or is observed", state).Severity = Warning
	case enforced:
		p.at(first, "labels.state", cure, "%s can never fail: its rules only warn or are observed", state).Severity = Warning
	default:
		p.at(first, "labels.state", cure, "all rules of %s are observed: it always fails, with the reason %q", state, "no rules").Severity = Error
	}
}
