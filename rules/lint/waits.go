package lint

import (
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// Waits returns the rules that can make their state fail, with the times that pass before
// they do. The files must be free of mistakes.
func Waits(files []*rules.File, v *Vocabulary) []probes.Rule {
	p := &pass{files: files, opts: Options{Vocabulary: v}}
	p.prepare()
	var waits []probes.Rule
	p.eachRule(func(p *pass, s *subject) {
		if s.enforced() {
			waits = append(waits, probes.Rule{Name: s.rule.Alert, State: s.rule.State, Enforced: true, For: s.rule.For, Interval: p.interval(s)})
		}
	})
	return waits
}
