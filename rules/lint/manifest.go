package lint

import (
	"time"

	"github.com/vitals-health/vitals/rules/lint/probes"
)

// probeCheck reports the findings of the current check in the manifests.
func probeCheck(p *pass) {
	for _, f := range p.probeFindings() {
		if f.Code != p.current.Code {
			continue
		}
		found := p.report(Finding{File: f.File, Line: f.Line, Col: f.Col, Where: f.Where, Text: f.Text, Cure: f.Cure})
		if f.Warning {
			found.Severity = Warning
		}
	}
}

// probeFindings returns the findings of all checks in the manifests.
func (p *pass) probeFindings() []probes.Finding {
	if p.inManifests != nil || len(p.opts.Manifests) == 0 {
		return p.inManifests
	}
	in := probes.Input{Manifests: p.opts.Manifests, States: p.opts.States, ListenAddress: p.opts.ListenAddress, Suggest: suggest}
	for _, s := range p.subjects {
		if s.rule.State != "" {
			in.Rules = append(in.Rules, probes.Rule{
				Name: s.rule.Alert, State: s.rule.State, Enforced: s.enforced(), For: s.rule.For, Interval: p.interval(s),
			})
		}
	}
	p.inManifests = append([]probes.Finding{}, probes.Check(in)...)
	return p.inManifests
}

// interval returns the interval of the slowest collector of a rule; zero if it is unknown.
func (p *pass) interval(s *subject) time.Duration {
	var longest time.Duration
	for _, l := range p.leaves(s.rule) {
		for _, m := range p.sources(l.selector) {
			longest = max(longest, m.Interval)
		}
	}
	return longest
}
