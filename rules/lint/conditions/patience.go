package conditions

import (
	"fmt"

	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// shortFor finds rules that a single collection can decide, which may be a failed one. It
// is worse for alive, which restarts. Components that push reports have no collection
// interval.
func shortFor(p *check.Pass, s *analysis.Subject) {
	if !s.Enforced() {
		return
	}
	h := p.Cadence(s.Rule.AST, nil)
	if !h.SingleSample() || s.Rule.For >= 2*h.Interval {
		return
	}
	waits, enough := `without "for"`, ""
	if s.Rule.For > 0 {
		waits = `with "for: ` + check.FormatDuration(s.Rule.For) + `"`
	}
	if s.Rule.For >= h.Interval {
		enough = " when the next one is late"
	}
	f := p.At(s, "for", fmt.Sprintf("set for: %s or more, or use several samples, as max_over_time does", check.FormatDuration(2*h.Interval)),
		"%s, the rule waits for less than two collections of the collector %q, which runs every %s: one failed collection can make %s fail%s",
		waits, h.Collector, check.FormatDuration(h.Interval), s.Rule.State, enough)
	if s.Rule.State != "alive" {
		f.Severity = check.Info
	}
}
