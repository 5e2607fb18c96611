// Package promapi renders the rules and alerts of a snapshot in the form of the HTTP API of
// Prometheus, for the programs that read it there.
package promapi

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// Rules returns the rules that the parameters of a request choose, as Prometheus does. The error is
// one of the parameters.
func Rules(snap *evaluator.Snapshot, form url.Values) (RulesResponse, error) {
	chosen, err := selectionOf(form)
	if err != nil {
		return RulesResponse{}, err
	}
	groups := slices.Clone(snap.Groups)
	slices.SortStableFunc(groups, func(a, b evaluator.Group) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Name, b.Name))
	})
	found := []RuleGroup{}
	for i := range groups {
		if g := ruleGroup(snap, &groups[i], &chosen); len(g.Rules) > 0 {
			found = append(found, g)
		}
	}
	return RulesResponse{"success", RuleDiscovery{found}}, nil
}

// Alerts returns the active alerts of all rules.
func Alerts(snap *evaluator.Snapshot) AlertsResponse {
	all := []Alert{}
	for i := range snap.Rules {
		all = append(all, activeAlerts(&snap.Rules[i])...)
	}
	return AlertsResponse{"success", AlertDiscovery{all}}
}

// BadData returns the response to invalid parameters.
func BadData(text string) ErrorResponse { return ErrorResponse{"error", "bad_data", text} }

// ruleGroup returns a group with its chosen rules.
func ruleGroup(snap *evaluator.Snapshot, g *evaluator.Group, chosen *selection) RuleGroup {
	out := RuleGroup{Name: g.Name, File: g.File, Interval: g.Interval.Seconds(), Limit: g.Limit, LastEvaluation: g.Evaluated.UTC()}
	if !has(chosen.groups, g.Name) || !has(chosen.files, g.File) {
		return out
	}
	for i := range g.Rules {
		r := &g.Rules[i]
		out.EvaluationTime += r.Took.Seconds()
		switch {
		case !chosen.chooses(r):
		case r.Alert < 0:
			out.Rules = append(out.Rules, recordingRule(r, out.LastEvaluation))
		default:
			out.Rules = append(out.Rules, alertingRule(r, &snap.Rules[r.Alert], out.LastEvaluation, chosen.excludeAlerts))
		}
	}
	return out
}

func recordingRule(r *evaluator.GroupRule, at time.Time) RecordingRule {
	out := RecordingRule{
		Name: r.Name, Query: r.Query, Labels: present(r.Labels), Health: "ok", LastError: r.Error,
		EvaluationTime: r.Took.Seconds(), LastEvaluation: at, Type: "recording",
	}
	if r.Error != "" {
		out.Health = "err"
	}
	return out
}

func alertingRule(r *evaluator.GroupRule, status *evaluator.Rule, at time.Time, excludeAlerts bool) AlertingRule {
	out := AlertingRule{
		State: "inactive", Name: r.Name, Query: r.Query, Duration: status.For.Seconds(), KeepFiringFor: status.KeepFiringFor.Seconds(),
		Labels: present(r.Labels), Annotations: present(r.Annotations), Health: "ok", LastError: r.Error,
		EvaluationTime: r.Took.Seconds(), LastEvaluation: at, Type: "alerting",
	}
	switch {
	case r.Error != "":
		out.Health = "err"
	case status.Status == evaluator.Unknown:
		out.Health, out.LastError = "unknown", status.Reason
	}
	if len(status.Alerts) > 0 { // the first one is firing if any is
		out.State = alertState(&status.Alerts[0])
	}
	if !excludeAlerts {
		out.Alerts = activeAlerts(status)
	}
	return out
}

// activeAlerts returns the alerts of a rule, which are never nil.
func activeAlerts(r *evaluator.Rule) []Alert {
	all := make([]Alert, 0, len(r.Alerts))
	for i := range r.Alerts {
		a := &r.Alerts[i]
		all = append(all, Alert{
			Labels: a.Labels.Map(), Annotations: present(a.Annotations), State: alertState(a),
			ActiveAt: a.ActiveAt.UTC(), KeepFiringSince: a.KeepFiringSince.UTC(), Value: strconv.FormatFloat(a.Value, 'e', -1, 64),
		})
	}
	return all
}

func alertState(a *evaluator.Alert) string {
	if a.Firing {
		return "firing"
	}
	return "pending"
}

// present returns a map that is an object in JSON, and not null, even if it is empty.
func present(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
