package lint

import (
	"fmt"
)

// stateWithoutRules finds states that nothing decides: one without any rule to obey
// fails for ever, and one with warnings only can never fail. alive and started are well
// without rules.
func stateWithoutRules(p *pass) {
	if p.opts.Partial {
		return // a rule that cannot be read may decide it
	}
	for _, state := range p.opts.States {
		if state == "alive" || state == "started" {
			continue
		}
		var first *subject
		obeyed, decided := false, false
		for _, s := range p.subjects {
			if s.rule.State != state {
				continue
			}
			if first == nil {
				first = s
			}
			obeyed, decided = obeyed || !s.rule.Observe, decided || s.obeyed()
		}
		switch {
		case decided:
		case first != nil:
			p.undecided(first, obeyed)
		case p.opts.Complete && len(p.files) == 0:
			p.report(Finding{
				File: p.opts.Config, Line: 1, Col: 1, Cure: "list rule files in rule_files; without a probe that uses a state, none are needed",
				Text: fmt.Sprintf("there are no rule files: %s always fails, with the reason %q", state, "no rules"),
			}).Severity = Info // it may be there for its metrics alone
		case p.opts.Complete:
			cure := fmt.Sprintf("add the label state: %s to a rule", state)
			if state != "ready" { // which every configuration has
				cure += ", or remove the state from the configuration"
			}
			p.report(Finding{
				File: p.files[0].Name, Line: 1, Col: 1, Severity: Error, Cure: cure,
				Text: fmt.Sprintf("no rule has the state %s: it always fails, with the reason %q", state, "no rules"),
			})
		}
	}
}

// undecided reports a state whose rules, of which first is one, cannot make it fail.
func (p *pass) undecided(first *subject, obeyed bool) {
	state := first.rule.State
	cure := fmt.Sprintf("add a rule of %s with severity: critical and without mode: observe", state)
	switch {
	case !p.opts.Complete:
		p.at(first, "labels.state", cure+", or check this file together with the one that has it",
			"no rule here can make %s fail: each only warns or is observed", state).Severity = Warning
	case obeyed:
		p.at(first, "labels.state", cure, "%s can never fail: its rules only warn or are observed", state).Severity = Warning
	default:
		p.at(first, "labels.state", cure, "all rules of %s are observed: it always fails, with the reason %q", state, "no rules").Severity = Error
	}
}
