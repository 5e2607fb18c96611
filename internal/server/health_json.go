package server

import (
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// health is the JSON form of a state, as in draft-inadarei-api-health-check-06.
// It uses the draft's names where they exist; threshold, since, reason and the others
// are additions, which the draft allows.
type health struct {
	Status      string                   `json:"status"`
	Description string                   `json:"description"`
	Generation  uint64                   `json:"generation"`
	Output      string                   `json:"output,omitempty"`
	Notes       []string                 `json:"notes,omitempty"`
	Checks      map[string][]healthCheck `json:"checks"`
}

// healthCheck is one rule. Rules with the same name are in one list.
type healthCheck struct {
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

// jsonType returns the JSON media type that the client prefers to text, or "".
func jsonType(accept []string) string {
	offers := []reply.Offer{{Type: "text", Subtype: "plain"}, {Type: "application", Subtype: "json"}, {Type: "application", Subtype: "health+json"}}
	if i := reply.Negotiate(accept, offers); i > 0 {
		return offers[i].Type + "/" + offers[i].Subtype
	}
	return ""
}

// healthJSON renders the given rules of a state. Output is the first reason for its
// failure, and empty if it does not fail.
func healthJSON(v *view, st evaluator.State, verdict evaluator.Verdict, ps parameters, rules []int, output string) []byte {
	h := health{
		Status:      verdict.String(),
		Description: "state " + st.Name,
		Generation:  v.snap.Generation,
		Output:      output,
		Notes:       ps.warnings(st),
		Checks:      map[string][]healthCheck{},
	}
	for _, i := range rules {
		r := &v.snap.Rules[i]
		h.Checks[r.Name] = append(h.Checks[r.Name], checkOf(v, st, r, ps.excluded[r.Name]))
	}
	return reply.Encode(h)
}

// checkOf renders a rule. Every rule of a state that stalled fails with it.
func checkOf(v *view, st evaluator.State, r *evaluator.Rule, excluded bool) healthCheck {
	c := healthCheck{
		Status:     evaluator.Pass.String(),
		RuleStatus: r.Status.String(),
		Threshold:  r.Expr,
		Since:      r.Since.UTC(),
		Time:       v.snap.At.UTC(),
		Severity:   r.Severity,
		Note:       r.Note,
		CausedBy:   r.Cause,
		Observe:    r.Observe,
		Excluded:   excluded,
	}
	switch {
	case excluded:
	case r.Decides || v.stale(st):
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
		c.Reason = text.Line(r.Reason, maxLine)
	default:
		c.Reason = text.Line(r.Summary, maxLine)
	}
	return c
}
