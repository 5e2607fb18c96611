// Package rules parses rule files: files in Prometheus' format for alerting and recording
// rules, and PrometheusRule objects. It rejects what Prometheus rejects, and also rules
// whose probe would differ from the author's intention. The rule files of Vitals are
// embedded.
package rules

import (
	"cmp"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// File is a rule file, or one of its documents and objects.
type File struct {
	// Name is the file name passed to Parse. The documents of a file share it.
	Name string
	// Part names the document or the object in its file, such as PrometheusRule "vitals" or
	// document 2; empty if it is the only one.
	Part string
	// Behind is set if the groups are in no object and not in the first document of their
	// file. Prometheus reads only the first document.
	Behind bool
	Groups []Group

	// doc holds the places in the file; nil in a file that Parse did not create.
	doc *strictyaml.Document
	// stateLabel is the label that makes an alert a rule of a state.
	stateLabel string
	// first and last are the lines of the document in the file.
	first, last int
	// broken holds the paths of the mistakes.
	broken broken
}

// StateLabel returns the label that makes an alert of the file a rule of a state.
func (f *File) StateLabel() string { return cmp.Or(f.stateLabel, DefaultStateLabel) }

// Group is a list of rules that are evaluated in order.
type Group struct {
	// Name is unique within the file.
	Name string
	// Interval is the time between two evaluations; zero means the evaluator's own.
	Interval time.Duration
	// QueryOffset is how far in the past the rules are evaluated; zero means at the current
	// time.
	QueryOffset time.Duration
	// Limit is the maximum number of alerts or series of a rule; zero means no limit.
	Limit int
	// Labels are added to all rules of the group that do not have them.
	Labels map[string]string
	Rules  []Rule

	// Line and Col are the place of the group in its file, counted from 1.
	Line, Col int
}

// Rule is an alerting rule or a recording rule: exactly one of Alert and Record
// is set.
type Rule struct {
	Alert  string
	Record string
	// Expr is the expression as written in the file. AST is its syntax tree; nil in an
	// invalid rule.
	Expr string
	AST  parser.Expr
	For  time.Duration
	// KeepFiringFor is how long the alert keeps firing after its expression has become
	// false.
	KeepFiringFor time.Duration
	// Labels are the rule's own labels and those of its group that it does not override.
	Labels map[string]string
	// Annotations are the rule's annotations, including the reserved ones.
	Annotations map[string]string

	// State is the state that the rule belongs to, from the label for it. It is empty for a
	// recording rule and for an ordinary alert.
	State string
	// Severity is the label severity. A rule with a state has one of
	// SeverityCritical, the default, and SeverityWarning.
	Severity string
	// NoData is the policy for missing data, from the annotation no_data; empty means that
	// of the state.
	NoData NoData
	// DependsOn names the alerts that may be the cause of this one, from the
	// annotation depends_on.
	DependsOn []string
	// ExitCode is the exec probe's exit code if this rule decides, from the annotation
	// exit_code: 1 to 119, or 0 if there is none or if it is a template.
	ExitCode int
	// Observe is set by the annotation mode: observe. The rule is shown, but does not
	// affect the state.
	Observe bool

	// Line and Col are the place of the rule in its file, counted from 1.
	Line, Col int
	// path is the path of the rule in its file's document.
	path string
	// templates is the parser of the options that the rule was parsed with.
	templates expand.Parser
}

// Template parses the text of a label or an annotation, as the options define that the rule was
// parsed with. The name appears in errors of the template.
func (r *Rule) Template(name, text string) (expand.Template, error) {
	return expand.Parse(r.templates, name, text)
}

// Name returns the name of the alert or of the recorded series.
func (r *Rule) Name() string {
	if r.Alert != "" {
		return r.Alert
	}
	return r.Record
}

// The severities of a rule with a state.
const (
	// SeverityCritical makes the state fail.
	SeverityCritical = "critical"
	// SeverityWarning is shown and does not affect the state.
	SeverityWarning = "warning"
)
