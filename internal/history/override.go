package history

import (
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

// observeOverride records the begin or the end of a silence or of maintenance.
func (h *History) observeOverride(s *evaluator.Snapshot, c *evaluator.OverrideChange) {
	e := &Event{At: inUTC(s.At), Generation: s.Generation, Reason: text.Clip(c.Why(), maxReason)}
	if c.Maintains() {
		e.Subject, e.Action = Subject{Kind: State, Name: c.State}, "maintenance "+c.UntilText(s.At)
	} else {
		e.Subject, e.Action = Subject{Kind: Rule, Name: c.Rule, State: c.State}, "silenced "+c.UntilText(s.At)
	}
	if c.Ended {
		e.Action = text.Either(c.Maintains(), "maintenance ended", "silence ended")
		begun := text.Either(c.Why() != "", " (begun "+c.Why()+")", "")
		e.Reason = text.Clip(text.Either(c.EndedBy != "", "by "+c.EndedBy, "by itself")+begun, maxReason)
	}
	e.To = statusOf(s, c)
	e.From = e.To
	h.add(e)
}

// statusOf returns the status of the first rule of a silence, or of the state of maintenance;
// None if it does not exist.
func statusOf(s *evaluator.Snapshot, c *evaluator.OverrideChange) Status {
	for i := range s.Rules {
		r := &s.Rules[i]
		if r.Name == c.Rule && (c.State == "" || r.State == c.State) {
			return of(r.Status.String())
		}
	}
	for i := range s.States {
		if c.Maintains() && s.States[i].Name == c.State {
			return of(s.Word(&s.States[i]))
		}
	}
	return None
}
