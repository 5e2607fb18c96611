package lint

import (
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// DefaultSeverity returns the severity of a check's findings unless a finding overrides it.
func DefaultSeverity(code string) Severity {
	for _, c := range checks() {
		if c.Code == code {
			return c.Severity
		}
	}
	panic("no check " + code)
}

// CheckCodes returns the codes of the checks that Check runs.
func CheckCodes() []string {
	var codes []string
	for _, c := range checks() {
		if c.All != nil || c.Rule != nil {
			codes = append(codes, c.Code)
		}
	}
	return codes
}

// Computations runs all checks and returns how many shapes, traits and outcomes they compute.
func Computations(files []*rules.File, opts Options) int {
	p := check.New(checks(), files, opts)
	run(p)
	return p.Computations()
}
