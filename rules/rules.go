// Package rules reads rule files: files in Prometheus' format for alerting and
// recording rules, and PrometheusRule objects. What Prometheus refuses is refused
// here, and so is what would make a probe of an alert mean something else than
// its author thinks. The rule files that Vitals ships are embedded.
package rules

import (
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// File is a rule file, or one of the documents and objects in it.
type File struct {
	// Name is the name that was given to Parse. The documents of a file share it.
	Name string
	// Part names the document or the object among those of its file, such as
	// PrometheusRule "vitals" or document 2; empty where it is the only one.
	Part string
	// Behind says that the groups stand in no object and not in the first document of
	// their file, which is all that Prometheus reads.
	Behind bool
	Groups []Group

	// doc knows where everything stands; nil in a file that Parse did not make.
	doc *strictyaml.Document
	// first and last are the lines of the file that are the document's.
	first, last int
	// broken are the paths of the mistakes.
	broken []string
}

// Group is a list of rules that are evaluated in this order.
type Group struct {
	// Name is unique within the file.
	Name string
	// Interval between two evaluations; zero means the evaluator's own.
	Interval time.Duration
	// QueryOffset is how far in the past the rules are evaluated; zero means now.
	QueryOffset time.Duration
	// Limit is how many alerts or series a rule may yield; zero means any number.
	Limit int
	// Labels are added to all rules of the group that do not have them.
	Labels map[string]string
	Rules  []Rule

	// Line and Col are where the group begins in its file, counted from 1.
	Line, Col int
}

// Rule is an alerting rule or a recording rule: exactly one of Alert and Record
// is set.
type Rule struct {
	Alert  string
	Record string
	// Expr is the expression as it is written in the file, and AST what it means; nil in a
	// rule that is mistaken.
	Expr string
	AST  parser.Expr
	For  time.Duration
	// KeepFiringFor is how long the alert goes on when its expression is not true
	// any more.
	KeepFiringFor time.Duration
	// Labels are the rule's own and, where it has none of the name, its group's.
	Labels map[string]string
	// Annotations are the rule's, the reserved ones included.
	Annotations map[string]string

	// State is the state that the rule feeds, from the label state. It is empty for
	// a recording rule and for an ordinary alert.
	State string
	// Severity is the label severity. A rule with a state has one of
	// SeverityCritical, the default, and SeverityWarning.
	Severity string
	// NoData is what the lack of evidence means, from the annotation no_data; empty
	// means what the state says.
	NoData NoData
	// DependsOn names the alerts that may be the cause of this one, from the
	// annotation depends_on.
	DependsOn []string
	// ExitCode is the exec probe's code when this rule decides, from the annotation
	// exit_code: 1 to 119, or 0 if it has none or one that is a template.
	ExitCode int
	// Observe is set by the annotation mode: observe: shown, never obeyed.
	Observe bool

	// Line and Col are where the rule begins in its file, counted from 1.
	Line, Col int
	// path leads to the rule in its file's document.
	path string
}

// Name returns the name of the alert or of the recorded series.
func (r *Rule) Name() string {
	if r.Alert != "" {
		return r.Alert
	}
	return r.Record
}

// The severities of a rule that feeds a state.
const (
	// SeverityCritical makes the state fail.
	SeverityCritical = "critical"
	// SeverityWarning is shown, and the state passes.
	SeverityWarning = "warning"
)

// NoData is what it means for a state that a rule has no evidence. The zero value
// leaves that to the state.
type NoData string

// The meanings of a lack of evidence.
const (
	// NoDataFail makes the state fail.
	NoDataFail NoData = "fail"
	// NoDataPass makes the state pass.
	NoDataPass NoData = "pass"
	// NoDataHold keeps what the rule said last.
	NoDataHold NoData = "hold"
)
