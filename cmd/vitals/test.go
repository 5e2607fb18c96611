package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/internal/ruletest"
)

// testCommand declares the command test.
func (p *program) testCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	test := app.Command("test", "Test rules without a running daemon.")
	cmd := test.Command("rules", "Run unit tests of rule files: the files of \"promtool test rules\", which may also test the verdict of a state (state_test), define states (states) and restart Vitals (restarts). Exit code 1 for an unmet expectation, 3 for an invalid file.")
	var files []string
	var only, junit string
	var opts ruletest.Options
	cmd.Arg("file", "The test files: paths or globs.").Required().StringsVar(&files)
	cmd.Flag("run", "Run only the tests whose \"file/name\" matches the expression.").PlaceHolder("REGEXP").StringVar(&only)
	cmd.Flag("junit", "Write the results as JUnit XML to this file as well.").PlaceHolder("FILE").StringVar(&junit)
	cmd.Flag("debug", "Print what changes between evaluations.").BoolVar(&opts.Timeline)
	cmd.Flag("state", "A further state that the rules may name, in addition to ready, alive and started. Repeatable.").StringsVar(&opts.States)
	stateLabelFlag(cmd, &opts.StateLabel)
	cmd.Action(do(func() int {
		if only != "" {
			var err error
			if opts.Only, err = regexp.Compile(only); err != nil {
				return p.fail(fmt.Errorf("--run: %w", err))
			}
		}
		opts.ReadFile = config.ReadFile
		return p.testRules(files, junit, opts)
	}))
}

// testRules runs test files. Results go to stdout, errors and warnings to stderr.
func (p *program) testRules(files []string, junit string, opts ruletest.Options) int {
	var reports []*ruletest.Report
	var mistakes []error
	ran, failed := 0, 0
	take := func(r *ruletest.Report) {
		for _, w := range r.Warnings {
			fmt.Fprintf(p.stderr, "%s (warning)\n", w)
		}
		r.Text(p.stdout)
		ran, failed = ran+len(r.Tests), failed+r.Failed()
		mistakes = append(mistakes, r.Mistakes...)
		reports = append(reports, r)
	}
	files, unmatched := rulecheck.AllFiles(files, rulecheck.Paths)
	for _, file := range files {
		take(ruletest.Run(context.Background(), file, opts))
	}
	for _, err := range unmatched {
		take(&ruletest.Report{File: rulecheck.FileOf(err), Mistakes: []error{err}})
	}
	if junit != "" {
		if err := writeJUnit(junit, reports); err != nil {
			mistakes = append(mistakes, fmt.Errorf("--junit: %w", err))
		}
	}
	switch {
	case len(mistakes) > 0:
		return p.fail(mistakes...)
	case failed > 0:
		return exitFailing
	case ran == 0 && opts.Only != nil:
		return p.fail(fmt.Errorf("--run: no test matches %q", opts.Only))
	}
	return exitOK
}

func writeJUnit(path string, reports []*ruletest.Report) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(ruletest.WriteJUnit(f, reports), f.Close())
}
