package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/ruletest"
)

// testCommand declares the command test.
func (p *program) testCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	test := app.Command("test", "Test rules without anything that runs.")
	cmd := test.Command("rules", "Run unit tests of rule files: the files of \"promtool test rules\", which may also ask for the verdict of a state (state_test), name states (states) and have Vitals start anew (restarts). Exit code 1 when an expectation is not met, 3 when a file has mistakes.")
	var files []string
	var only, junit string
	var opts ruletest.Options
	cmd.Arg("file", "The test files: paths or globs.").Required().StringsVar(&files)
	cmd.Flag("run", "Run only the tests whose \"file/name\" the expression matches.").PlaceHolder("REGEXP").StringVar(&only)
	cmd.Flag("junit", "Write the outcome as JUnit's XML to this file as well.").PlaceHolder("FILE").StringVar(&junit)
	cmd.Flag("debug", "Print what changes from evaluation to evaluation.").BoolVar(&opts.Timeline)
	cmd.Flag("state", "A state beside ready, alive and started that the rules may name. Repeatable.").StringsVar(&opts.States)
	cmd.Action(do(func() int {
		if only != "" {
			var err error
			if opts.Only, err = regexp.Compile(only); err != nil {
				return p.fail(fmt.Errorf("--run: %w", err))
			}
		}
		opts.ReadFile = readFile
		return p.testRules(files, junit, opts)
	}))
}

// testRules runs test files. Outcomes go to stdout; mistakes and warnings to stderr.
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
	files, unmatched := allFiles(files, matchingPaths)
	for _, file := range files {
		take(ruletest.Run(context.Background(), file, opts))
	}
	for _, err := range unmatched {
		take(&ruletest.Report{File: fileOf(err), Mistakes: []error{err}})
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
