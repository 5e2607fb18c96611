// Package lint finds problems in valid rule files: rules that restart pods although a
// restart does not fix the problem, that use metrics which nothing exports, that can never
// fire. Each check has a stable code, and each finding has a place, an explanation and a
// cure.
package lint

import (
	"cmp"
	"slices"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/selectors"
)

// Finding is a result of a check.
type Finding = check.Finding

// Severity is the severity of a finding. The zero value is Info.
type Severity = check.Severity

// Options are the inputs of the checks beyond the rule files.
type Options = check.Options

// About describes a check.
type About = check.About

// Vocabulary describes the series that selectors can match.
type Vocabulary = analysis.Vocabulary

// Metric is one metric of one collector.
type Metric = analysis.Metric

// The severities of findings.
const (
	Info    = check.Info
	Warning = check.Warning
	Error   = check.Error
)

// Check checks files that are loaded together. They must be free of mistakes, see
// rules.ParseAll and rules.Check, unless Options.Partial is set. The findings follow the
// order of the files, then of the manifests. Accepted findings are included.
func Check(files []*rules.File, opts Options) []Finding {
	p := check.New(checks(), files, opts)
	run(p)
	order := map[string]int{}
	for i, f := range files {
		order[f.Name] = i
	}
	for i, f := range opts.Manifests {
		order[f.Name] = len(files) + i
	}
	var findings []Finding
	for _, f := range selectors.Fold(p) {
		if f.Subject == nil || !f.Subject.Mistaken() {
			findings = append(findings, f.Finding)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Col, b.Col), cmp.Compare(a.Code, b.Code))
	})
	return findings
}

// run runs all checks.
func run(p *check.Pass) {
	for _, c := range p.Checks {
		p.Current = c
		switch {
		case c.All != nil:
			c.All(p)
		case c.Rule != nil:
			p.EachRule(c.Rule)
		}
	}
}
