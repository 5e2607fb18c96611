package check

import "github.com/vitals-health/vitals/rules/lint/analysis"

// Severity is the severity of a finding. The zero value is Info.
type Severity int

// The severities of findings.
const (
	// Info is a remark: the rule works, and could be improved.
	Info Severity = iota
	// Warning is a risk that needs a cure or a reason to accept it.
	Warning
	// Error is a rule that does harm or has no effect.
	Error
)

// String returns the word of reports for a severity.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Finding is a result of a check.
type Finding struct {
	// Code is the check's stable code, such as V001. Name is its readable name.
	Code, Name string
	Severity   Severity
	File       string
	// Line and Col count from 1; Col counts characters.
	Line, Col int
	// Where names the group and the rule, or is empty.
	Where string
	// Text describes the problem. Cure describes how to fix it.
	Text, Cure string
	// Accepted is the reason for which the file accepts the finding; empty if it does not.
	Accepted string
}

// Found is a Finding with the rule that it belongs to, or nil.
type Found struct {
	Finding
	Subject *analysis.Subject
}
