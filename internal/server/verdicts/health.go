package verdicts

import (
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/text"
)

// Health is the JSON form of a state, as in draft-inadarei-api-health-check-06.
// It uses the draft's names where they exist; threshold, since, reason and the others
// are additions, which the draft allows.
type Health struct {
	Status      string                   `json:"status"`
	Description string                   `json:"description"`
	Generation  uint64                   `json:"generation"`
	Output      string                   `json:"output,omitempty"`
	Notes       []string                 `json:"notes,omitempty"`
	Checks      map[string][]HealthCheck `json:"checks"`
}

// HealthCheck is one rule. Rules with the same name are in one list.
type HealthCheck struct {
	// Status is pass, warn or fail: the effect of the rule on the state.
	Status string `json:"status"`
	// RuleStatus is ok, pending, failing or unknown: the status of the rule itself.
	RuleStatus    string          `json:"ruleStatus"`
	ObservedValue *explain.Number `json:"observedValue,omitempty"`
	Threshold     string          `json:"threshold"`
	Since         time.Time       `json:"since,omitzero"`
	Time          time.Time       `json:"time"`
	Reason        string          `json:"reason,omitempty"`
	Note          string          `json:"note,omitempty"`
	Severity      string          `json:"severity,omitempty"`
	CausedBy      string          `json:"causedBy,omitempty"`
	Observe       bool            `json:"observe,omitempty"`
	SilencedUntil time.Time       `json:"silencedUntil,omitzero"`
	Excluded      bool            `json:"excluded,omitempty"`
}

// Health renders the given rules of a state. Output is the first reason for its
// failure, and empty if it does not fail.
func (v View) Health(st evaluator.State, verdict evaluator.Verdict, c Choice, rules []int, output string) Health {
	h := Health{
		Status:      verdict.String(),
		Description: "state " + st.Name,
		Generation:  v.Snap.Generation,
		Output:      output,
		Notes:       c.warnings(st),
		Checks:      map[string][]HealthCheck{},
	}
	for _, i := range rules {
		r := &v.Snap.Rules[i]
		h.Checks[r.Name] = append(h.Checks[r.Name], v.checkOf(st, r, c.Excluded[r.Name]))
	}
	return h
}

// checkOf renders a rule. Every rule of a state that stalled fails with it.
func (v View) checkOf(st evaluator.State, r *evaluator.Rule, excluded bool) HealthCheck {
	c := HealthCheck{
		Status:     evaluator.Pass.String(),
		RuleStatus: r.Status.String(),
		Threshold:  r.Expr,
		Since:      r.Since.UTC(),
		Time:       v.Snap.At.UTC(),
		Severity:   r.Severity,
		Note:       r.Note,
		CausedBy:   r.Cause,
		Observe:    r.Observe,
		Excluded:   excluded,
	}
	switch {
	case excluded:
	case r.Decides || v.Stale(st):
		c.Status = evaluator.Fail.String()
	case r.Warns:
		c.Status = evaluator.Warn.String()
	}
	if r.Silence != nil {
		c.SilencedUntil = r.Silence.Until
	}
	if r.Observed != nil {
		value := explain.Number(*r.Observed)
		c.ObservedValue = &value
	}
	switch r.Status {
	case evaluator.OK:
	case evaluator.Unknown:
		c.Reason = text.Line(r.Reason, MaxLine)
	default:
		c.Reason = text.Line(r.Summary, MaxLine)
	}
	return c
}
