package promapi

import "time"

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
