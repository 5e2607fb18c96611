package check

import "github.com/vitals-health/vitals/rules/lint/analysis"

// About describes a check.
type About struct {
	// Code is never changed or used again.
	Code, Name string
	// Severity is the severity of most of its findings.
	Severity Severity
	// Text describes in a sentence what the check finds.
	Text string
}

// Check is a check with its implementation.
type Check struct {
	About
	// Rule checks one valid rule, and All everything at once. Both are nil for mistakes
	// that are found while the file is parsed. They cannot be accepted.
	Rule func(*Pass, *analysis.Subject)
	All  func(*Pass)
}

// OfParser returns a check that the parser of rules makes.
func OfParser(code, name string, severity Severity, text string) Check {
	return Check{About: About{code, name, severity, text}}
}

// OfRule returns a check of one valid rule after the other.
func OfRule(code, name string, severity Severity, text string, rule func(*Pass, *analysis.Subject)) Check {
	return Check{About: About{code, name, severity, text}, Rule: rule}
}

// OfAll returns a check of everything at once.
func OfAll(code, name string, severity Severity, text string, all func(*Pass)) Check {
	return Check{About: About{code, name, severity, text}, All: all}
}
