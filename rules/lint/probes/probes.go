// Package probes checks the probes of Kubernetes manifests: whether they reach Vitals, use
// the right state and fit the rules of that state. It also checks whether the container of Vitals
// has the files and variables of the configuration.
package probes

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/manifest"
)

// Input is what the checks need.
type Input struct {
	Manifests []*manifest.File
	// States are the names of all states, and Rules are the rules that have one.
	States []string
	Rules  []Rule
	// ListenAddress is the configured listen address, which a flag can override; empty if
	// it is unknown.
	ListenAddress string
	// Needs are the files and variables of the configuration.
	Needs []manifest.Need
	// Suggest returns a cure for an unknown name.
	Suggest func(got string, known []string) string
}

// Rule is a rule of a state.
type Rule struct {
	Name, State string
	// Enforced is set if the rule can make its state fail.
	Enforced bool
	// For is the rule's "for". Interval is that of its slowest collector; zero if unknown.
	For, Interval time.Duration
}

// Finding is a problem of a probe, or of a container.
type Finding struct {
	// Code is the code of the check, such as V030.
	Code string
	// Warning is set for a warning of a check whose other findings are errors.
	Warning bool
	File    string
	// Line and Col count from 1.
	Line, Col int
	// Where names the object, the container and the probe.
	Where string
	// Text describes the problem. Cure describes how to fix it.
	Text, Cure string
}

// Check returns the findings in all manifests, by code.
func Check(in Input) []Finding {
	c := &checker{in: in}
	c.all = c.probes()
	for _, check := range []struct {
		code string
		run  func(*checker)
	}{
		{"V030", probePatience}, {"V031", probeTimeout}, {"V032", probePath}, {"V033", probePort},
		{"V034", probeVacuous}, {"V035", probeWrongState}, {"V036", probeMissing},
		{"V037", probeFallback}, {"V038", probeAbsence}, {"V039", inputMissing},
	} {
		c.code = check.code
		check.run(c)
	}
	return c.found
}

// checker is one run of the checks. code is that of the current check.
type checker struct {
	in    Input
	all   []*probed
	code  string
	found []Finding
}

// report adds a finding of the current check. It returns the finding, which the caller may
// change until the next one is reported.
func (p *checker) report(f Finding) *Finding {
	f.Code = p.code
	p.found = append(p.found, f)
	return &p.found[len(p.found)-1]
}

// formatDuration formats a duration as in rule files.
func formatDuration(d time.Duration) string { return model.Duration(d).String() }
