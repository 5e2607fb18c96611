package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/collectorcheck"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/lintreport"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

// checkCommands declares the commands that check files and collectors and start nothing.
func (p *program) checkCommands(app *kingpin.Application, do func(func() int) kingpin.Action) {
	check := app.Command("check", "Check files and collectors without starting anything.")

	config := check.Command("config", "Check a configuration and all files that it names. Every error is printed as file:line:col, with exit code 3. Then check its rules, with exit code 1 for findings of the severity of --fail-on.")
	var file string
	config.Arg("file", "The configuration file; omit it with --profile.").StringVar(&file)
	config.PreAction(func(*kingpin.ParseContext) error {
		if file != "" && p.configFile != "" {
			return errors.New("both FILE and --config.file are given: expected one of them")
		}
		p.configFile = cmp.Or(file, p.configFile)
		return nil
	})
	p.configFlags(config)
	syntaxOnly := config.Flag("syntax-only", "Skip checks that depend on the host: the service account of the pod, credentials and their files.").Bool()
	configReport := p.reportFlags(config)
	config.Action(do(func() int { return p.checkConfig(*syntaxOnly, configReport) }))

	cmd := check.Command("rules", "Check rule files and PrometheusRule objects. Every error is printed as file:line:col, with exit code 3. Then report rules that are valid and probably wrong, with exit code 1 for findings of the severity of --fail-on.")
	var files, manifests []string
	var opts rules.Options
	cmd.Arg("file", "The rule files: paths, globs, or builtin:NAME for a shipped file. By default those of the configuration.").StringsVar(&files)
	p.configFlags(cmd)
	cmd.Flag("state", "A further state that the rules may name, in addition to ready, alive and started. Repeatable.").StringsVar(&opts.States)
	stateLabelFlag(cmd, &opts.StateLabel)
	cmd.Flag("manifest", "A Kubernetes manifest whose probes query Vitals: check their timeouts, paths, and that they can fail, and print how many were judged. Repeatable.").PlaceHolder("FILE").StringsVar(&manifests)
	rulesReport := p.reportFlags(cmd)
	cmd.Action(do(func() int { return p.checkRules(files, manifests, opts, rulesReport) }))

	p.checkCollectorsCommand(check, do)
}

// checkCollectorsCommand declares the command check collectors.
func (p *program) checkCollectorsCommand(check *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := check.Command("collectors", "Run each collector of a configuration once. Print the result, the time that it took, what was measured, the rules that use each metric, and the rules that select what was not measured. The exit code is 1 if a collection fails.")
	p.configFlags(cmd)
	timeout := cmd.Flag("timeout", "How long to wait for the collectors.").Default("15s").Duration()
	series := cmd.Flag("series", "Print each series and its value.").Bool()
	format := cmd.Flag("format", "text for people, or json.").Default("text").Enum("text", "json")
	cmd.Action(do(func() int {
		var seen *evaluator.Snapshot
		l, err := p.withSnapshot(evaluator.Ready, *timeout, func(_ context.Context, _ *evaluator.Evaluator, s *evaluator.Snapshot) { seen = s })
		if err != nil {
			return p.fail(err)
		}
		report := collectorcheck.Of(seen, rulecheck.Vocabulary(l).Metrics)
		if *format == "json" {
			err = json.NewEncoder(p.stdout).Encode(report)
		} else {
			err = report.Text(p.stdout, *series)
		}
		if err != nil {
			return p.fail(err)
		}
		if !report.OK() {
			return exitFailing
		}
		return exitOK
	}))
}

// checkConfig checks a configuration without any I/O beyond reading files. With
// syntaxOnly, it makes no collectors, because what they need in addition to the
// configuration, such as a service account, may exist on another host only.
func (p *program) checkConfig(syntaxOnly bool, to *lintreport.Printer) int {
	l, errs := p.load()
	name := cmp.Or(p.configFile, config.BuiltinPrefix+p.profile)
	if len(errs) == 0 && !syntaxOnly {
		if err := checkBuild(l); err != nil {
			errs = []error{err}
		}
	}
	if len(errs) > 0 {
		found := rulecheck.Beside(l, errs)
		if to.Format == string(lintreport.Text) { // without excerpts of the file, which may hold secrets
			code := p.fail(errs...)
			to.Beside(found)
			return code
		}
		to.Mistakes(name, nil, rulecheck.Flatten(errs), found)
		return exitConfig
	}
	if to.Findings(rulecheck.OfConfig(l).Report()) {
		return exitFailing
	}
	if to.Format == string(lintreport.Text) {
		fmt.Fprintf(p.stdout, "%s: ok: %s, %s in %s\n", name,
			text.Plural(len(l.Config.Collectors), "collector"), text.Plural(config.CountRules(l.Rules), "rule"), text.Plural(len(rulecheck.ByFile(l.Rules)), "rule file"))
	}
	return exitOK
}

// checkBuild makes all collectors and the evaluator of a configuration, and starts
// nothing.
func checkBuild(l *config.Loaded) error {
	b := config.Builder{Logger: slog.New(slog.DiscardHandler), TargetMemory: memoryLimit() / targetsShare}
	cfg, _, err := b.Build(l)
	if err != nil {
		return err
	}
	_, err = evaluator.New(cfg, evaluator.Options{})
	return err
}

// checkRules checks rule files, alone or against a configuration, and the probes of
// manifests.
func (p *program) checkRules(paths, manifests []string, opts rules.Options, to *lintreport.Printer) int {
	run := &rulecheck.Set{States: append([]string{evaluator.Ready, evaluator.Alive, evaluator.Started}, opts.States...), StateLabel: opts.StateLabel}
	configured := p.configFile+p.profile+p.kuryrConf != "" || len(p.set)+len(p.rules) > 0
	if !configured && len(paths) == 0 {
		to.Mistakes("", nil, []error{errors.New("no rule files: give some, or --config.file=FILE or --profile=NAME for those of a configuration")}, nil)
		return exitConfig
	}
	if configured {
		l, errs := p.load()
		if len(errs) > 0 {
			to.Mistakes(p.configFile, rulecheck.OfConfig(l).Sources(), rulecheck.Flatten(errs), rulecheck.Beside(l, errs))
			return exitConfig
		}
		run.Use(l)
	}
	if errs := append(run.Read(paths), run.ReadManifests(manifests)...); len(errs) > 0 {
		run.Partial = true
		to.Mistakes("", run.Sources(), rulecheck.Flatten(errs), new(run.Report()))
		return exitConfig
	}
	failed := to.Findings(run.Report())
	if !to.Shown && to.Format == string(lintreport.Text) {
		for _, f := range rulecheck.ByFile(run.Chosen()) {
			in := ""
			if len(f) > 1 {
				in = " in " + text.Plural(len(f), "document")
			}
			fmt.Fprintf(p.stdout, "%s: ok: %s%s%s\n", f[0].Name, text.Plural(config.CountRules(f), "rule"), in, to.Accepted(f[0].Name))
		}
	}
	to.Coverage(run.Covered())
	if failed {
		return exitFailing
	}
	return exitOK
}

// reporter returns a printer of findings as text that fails for warnings.
func (p *program) reporter() *lintreport.Printer {
	return &lintreport.Printer{Stdout: p.stdout, Stderr: p.stderr, Format: string(lintreport.Text), FailOn: lintreport.FailOnWarning, Version: version.Version}
}

// reportFlags declares the flags that select how findings are printed.
func (p *program) reportFlags(cmd *kingpin.CmdClause) *lintreport.Printer {
	r := p.reporter()
	cmd.Flag("format", "How to print findings: text, json, github for GitHub Actions, or sarif.").Default(r.Format).EnumVar(&r.Format, lintreport.Formats()...)
	cmd.Flag("fail-on", "The severity of findings that set the exit code 1 unless a comment accepts them: warning (and error), error, or never.").Default(r.FailOn).EnumVar(&r.FailOn, lintreport.FailOnWarning, lintreport.FailOnError, lintreport.FailOnNever)
	cmd.Flag("show-accepted", "Print accepted findings as well, with the reasons in their comments.").BoolVar(&r.ShowAccepted)
	return r
}
