package ruletest

import (
	"context"
	"os"
	"regexp"
)

// Options say how test files are run. The zero value runs all tests.
type Options struct {
	// States are names of states beside ready, alive and started that rules may feed.
	// Test files can name states, too.
	States []string
	// Only are the tests to run: those whose "file/name" it matches. Nil means all.
	Only *regexp.Regexp
	// ReadFile reads a file; os.ReadFile if nil.
	ReadFile func(name string) ([]byte, error)
	// Timeline has reports tell what changed, at every evaluation.
	Timeline bool
}

func (o Options) read(name string) ([]byte, error) {
	if o.ReadFile != nil {
		return o.ReadFile(name)
	}
	return os.ReadFile(name)
}

// Report is what became of a test file.
type Report struct {
	File string
	// Mistakes are those of the file and of its rule files. With any, nothing was run.
	Mistakes []error
	// Warnings say with their place what is no mistake in promtool and will be one.
	Warnings []string
	// Tests are those that were run, in the order of the file.
	Tests []Test
}

// Test is what became of one test.
type Test struct {
	// Name is that of the file, or "unnamed#" and the test's index.
	Name string
	// Expectations counts what was compared.
	Expectations int
	Failures     []Failure
	// Timeline is what changed from evaluation to evaluation, a line each; see Options.
	Timeline []string
}

// Failure is an expectation that was not met, or an evaluation that failed.
type Failure struct {
	// Place is that of the expectation, as file:line:col.
	Place string
	// What is the expectation in short.
	What string
	// Text has the difference in several lines: "-" is expected, "+" is what was found.
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
