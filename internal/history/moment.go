package history

import (
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/text"
)

// The bounds of what explains an event, in bytes and in numbers.
const (
	maxReason, maxExpr, maxSummary          = 512, 300, 200
	maxRules, maxConsequences, maxMeasuring = 3, 10, 3
	maxLabels, maxLabel                     = 10, 100
)

// explainState adds to an event why a state has its verdict.
func explainState(e *Event, s *evaluator.Snapshot, st *evaluator.State) {
	e.Reason, e.RuleCount = text.Clip(st.Reason, maxReason), len(st.Deciding)
	for _, i := range st.Deciding[:min(len(st.Deciding), maxRules)] {
		e.Rules = append(e.Rules, moment(s, &s.Rules[i]))
	}
}

// explainRule adds to an event the rule that it is about.
func explainRule(e *Event, s *evaluator.Snapshot, r *evaluator.Rule) {
	e.Rules, e.RuleCount = []RuleMoment{moment(s, r)}, 1
}

// moment returns a rule as the snapshot has it.
func moment(s *evaluator.Snapshot, r *evaluator.Rule) RuleMoment {
	m := RuleMoment{
		Name: r.Name, Group: r.Group, Severity: r.Severity, Status: of(r.Status.String()), Observe: r.Observe,
		Since: inUTC(r.Since), ForSeconds: r.For.Seconds(), Expr: text.Clip(r.Expr, maxExpr), Summary: text.Clip(r.Summary, maxSummary),
		Alerts: r.AlertCount, Reason: text.Clip(r.Reason, maxReason), Note: text.Clip(r.Note, maxReason), Cause: r.Cause,
	}
	if r.Silence != nil {
		m.SilencedUntil = inUTC(r.Silence.Until)
	}
	if r.Observed != nil {
		value := explain.Number(*r.Observed)
		m.Value = &value
	}
	if r.Limit != nil {
		m.Threshold = r.Limit.Op + " " + strconv.FormatFloat(r.Limit.Value, 'g', -1, 64)
	}
	if len(r.Alerts) > 0 {
		m.Labels = labelsOf(&r.Alerts[0])
	}
	for i := range s.Rules {
		if s.Rules[i].Cause == r.Name && len(m.Consequences) < maxConsequences {
			m.Consequences = append(m.Consequences, s.Rules[i].Name)
		}
	}
	for _, name := range r.Collectors[:min(len(r.Collectors), maxMeasuring)] {
		for i := range s.Collectors {
			if s.Collectors[i].Name == name {
				m.Collectors = append(m.Collectors, measuring(&s.Collectors[i], s.At))
			}
		}
	}
	return m
}

// labelsOf returns the first labels of an alert.
func labelsOf(a *evaluator.Alert) map[string]string {
	m := map[string]string{}
	a.Labels.Range(func(l labels.Label) {
		if len(m) < maxLabels {
			m[l.Name] = text.Clip(l.Value, maxLabel)
		}
	})
	return m
}

// measuring returns a collector as the snapshot has it.
func measuring(c *evaluator.CollectorStatus, at time.Time) CollectorMoment {
	m := CollectorMoment{Name: c.Name, Ran: c.Ran, Success: c.Success, Error: text.Clip(c.Error, maxReason)}
	if !c.LastSuccess.IsZero() {
		age := at.Round(0).Sub(c.LastSuccess).Seconds()
		m.AgeSeconds = &age
	}
	return m
}
