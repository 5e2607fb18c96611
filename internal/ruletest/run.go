package ruletest

import (
	"context"
	"os"
	"regexp"
)

// Options configure Run. The zero value runs all tests.
type Options struct {
	// States are names of additional states for rules, after ready, alive and started.
	// Test files can add states, too.
	States []string
	// StateLabel is the label of the state in rules; state if empty. Test files can set
	// another.
	StateLabel string
	// Only selects tests by "file/name"; nil selects all.
	Only *regexp.Regexp
	// ReadFile reads a file; os.ReadFile if nil.
	ReadFile func(name string) ([]byte, error)
	// Timeline adds the changes of every evaluation to reports.
	Timeline bool
}

func (o Options) read(name string) ([]byte, error) {
	if o.ReadFile != nil {
		return o.ReadFile(name)
	}
	return os.ReadFile(name)
}

// Report is the result of a test file.
type Report struct {
	File string
	// Mistakes are those in the file and in its rule files. With any, no test was run.
	Mistakes []error
	// Warnings, with their positions, are about what promtool accepts silently.
	Warnings []string
	// Tests are the tests that were run, in the order of the file.
	Tests []Test
}

// Test is the result of a test.
type Test struct {
	// Name is the name in the file, or "unnamed#" and the test's index.
	Name string
	// Expectations is the number of expectations.
	Expectations int
	Failures     []Failure
	// Timeline has a line for every change between evaluations; see Options.
	Timeline []string
}

// Failure is a failed expectation or a failed evaluation.
type Failure struct {
	// Place is the position of the expectation, as file:line:col.
	Place string
	// What is a short form of the expectation.
	What string
	// Text is the difference in several lines: "-" is expected, "+" is actual.
	Text string
}

// Failed counts the failures.
func (r *Report) Failed() int {
	n := 0
	for _, t := range r.Tests {
		n += len(t.Failures)
	}
	return n
}

// Run runs the tests of a file.
func Run(ctx context.Context, name string, opts Options) *Report {
	f, r := read(name, opts)
	report := &Report{File: name, Mistakes: r.errs, Warnings: r.warnings}
	if len(report.Mistakes) > 0 {
		return report
	}
	for i := range f.tests {
		t := &f.tests[i]
		if opts.Only != nil && !opts.Only.MatchString(name+"/"+t.name) {
			continue
		}
		report.Tests = append(report.Tests, play(ctx, f, t, opts))
	}
	return report
}
