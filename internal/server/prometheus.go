package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// RulesResponse is the body of /api/v1/rules, in the form of Prometheus' HTTP API.
type RulesResponse struct {
	// Status is success.
	Status string        `json:"status"`
	Data   RuleDiscovery `json:"data"`
}

// RuleDiscovery has the rule groups, sorted by file and name.
type RuleDiscovery struct {
	Groups []RuleGroup `json:"groups"`
}

// RuleGroup is a rule group. Durations are in seconds.
type RuleGroup struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Rules are of the type AlertingRule or RecordingRule, in the order of the file.
	Rules    []any   `json:"rules"`
	Interval float64 `json:"interval"`
	// Limit is the maximum number of alerts or series of a rule; 0 means no limit.
	Limit int `json:"limit"`
	// EvaluationTime is the sum of those of all rules of the group.
	EvaluationTime float64   `json:"evaluationTime"`
	LastEvaluation time.Time `json:"lastEvaluation"`
}

// AlertingRule is an alerting rule.
type AlertingRule struct {
	// State is inactive, pending or firing.
	State string `json:"state"`
	Name  string `json:"name"`
	Query string `json:"query"`
	// Duration is the rule's for.
	Duration      float64           `json:"duration"`
	KeepFiringFor float64           `json:"keepFiringFor"`
	Labels        map[string]string `json:"labels"`
	Annotations   map[string]string `json:"annotations"`
	// Alerts are at most 100. They are left out with exclude_alerts.
	Alerts []Alert `json:"alerts,omitzero"`
	// Health is ok, err after an error, or unknown without evidence.
	Health string `json:"health"`
	// LastError is the error, or which evidence is missing.
	LastError string `json:"lastError,omitempty"`
	// EvaluationTime is how long the last query of the expression took.
	EvaluationTime float64   `json:"evaluationTime"`
	LastEvaluation time.Time `json:"lastEvaluation"`
	// Type is alerting.
	Type string `json:"type"`
}

// RecordingRule is a recording rule. Its fields are those of AlertingRule.
type RecordingRule struct {
	Name           string            `json:"name"`
	Query          string            `json:"query"`
	Labels         map[string]string `json:"labels"`
	Health         string            `json:"health"`
	LastError      string            `json:"lastError,omitempty"`
	EvaluationTime float64           `json:"evaluationTime"`
	LastEvaluation time.Time         `json:"lastEvaluation"`
	// Type is recording.
	Type string `json:"type"`
}

// AlertsResponse is the body of /api/v1/alerts, in the form of Prometheus' HTTP API.
type AlertsResponse struct {
	// Status is success.
	Status string         `json:"status"`
	Data   AlertDiscovery `json:"data"`
}

// AlertDiscovery has the active alerts of all rules.
type AlertDiscovery struct {
	Alerts []Alert `json:"alerts"`
}

// Alert is an active alert.
type Alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	// State is pending or firing.
	State    string    `json:"state"`
	ActiveAt time.Time `json:"activeAt"`
	// KeepFiringSince is when the expression stopped being true.
	KeepFiringSince time.Time `json:"keepFiringSince,omitzero"`
	// Value is a number as Prometheus writes it.
	Value string `json:"value"`
}

// ErrorResponse is the body of a response to invalid parameters.
type ErrorResponse struct {
	// Status is error.
	Status string `json:"status"`
	// ErrorType is bad_data.
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
}

// selection are the parameters of /api/v1/rules. An empty list chooses all.
type selection struct {
	// kind is alert, record or empty.
	kind                 string
	names, groups, files []string
	// matchers are sets, of which one must match the labels of the rule.
	matchers      [][]*labels.Matcher
	excludeAlerts bool
}

// rules serves /api/v1/rules.
func (s *Server) rules(w http.ResponseWriter, r *http.Request, v *view) {
	chosen, err := selectionOf(r.URL.Query())
	if err != nil {
		reply.Send(w, http.StatusBadRequest, "application/json", reply.Encode(ErrorResponse{"error", "bad_data", text.Line(err.Error(), maxLine)}))
		return
	}
	groups := slices.Clone(v.snap.Groups)
	slices.SortStableFunc(groups, func(a, b evaluator.Group) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Name, b.Name))
	})
	found := []RuleGroup{}
	for i := range groups {
		if g := v.ruleGroup(&groups[i], &chosen); len(g.Rules) > 0 {
			found = append(found, g)
		}
	}
	sendJSON(w, r, reply.Encode(RulesResponse{"success", RuleDiscovery{found}}))
}

// alerts serves /api/v1/alerts.
func (s *Server) alerts(w http.ResponseWriter, r *http.Request, v *view) {
	all := []Alert{}
	for i := range v.snap.Rules {
		all = append(all, activeAlerts(&v.snap.Rules[i])...)
	}
	sendJSON(w, r, reply.Encode(AlertsResponse{"success", AlertDiscovery{all}}))
}

// selectionOf reads the parameters as Prometheus does.
func selectionOf(form url.Values) (selection, error) {
	chosen := selection{kind: strings.ToLower(form.Get("type")), names: form["rule_name[]"], groups: form["rule_group[]"], files: form["file[]"]}
	if !slices.Contains([]string{"", "alert", "record"}, chosen.kind) {
		return chosen, fmt.Errorf("invalid parameter \"type\": not supported value %q", chosen.kind)
	}
	var err error
	if given := form.Get("exclude_alerts"); given != "" {
		if chosen.excludeAlerts, err = strconv.ParseBool(strings.ToLower(given)); err != nil {
			return chosen, fmt.Errorf("invalid parameter \"exclude_alerts\": %w", err)
		}
	}
	if chosen.matchers, err = promexpr.NewParser().ParseMetricSelectors(form["match[]"]); err != nil {
		return chosen, err
	}
	for _, set := range chosen.matchers {
		if !slices.ContainsFunc(set, func(m *labels.Matcher) bool { return !m.Matches("") }) {
			return chosen, errors.New("match[] must contain at least one non-empty matcher")
		}
	}
	return chosen, nil
}

// has reports whether a list of chosen names has a name, or chooses all.
func has(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// chooses reports whether a rule is chosen.
func (c *selection) chooses(r *evaluator.GroupRule) bool {
	kind := "alert"
	if r.Alert < 0 {
		kind = "record"
	}
	if c.kind != "" && c.kind != kind || !has(c.names, r.Name) {
		return false
	}
	return len(c.matchers) == 0 || slices.ContainsFunc(c.matchers, func(set []*labels.Matcher) bool {
		return !slices.ContainsFunc(set, func(m *labels.Matcher) bool { return !m.Matches(r.Labels[m.Name]) })
	})
}

// ruleGroup returns a group with its chosen rules.
func (v *view) ruleGroup(g *evaluator.Group, chosen *selection) RuleGroup {
	out := RuleGroup{Name: g.Name, File: g.File, Interval: g.Interval.Seconds(), Limit: g.Limit, LastEvaluation: utc(g.Evaluated)}
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
			out.Rules = append(out.Rules, alertingRule(r, &v.snap.Rules[r.Alert], out.LastEvaluation, chosen.excludeAlerts))
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
			ActiveAt: utc(a.ActiveAt), KeepFiringSince: utc(a.KeepFiringSince), Value: strconv.FormatFloat(a.Value, 'e', -1, 64),
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
