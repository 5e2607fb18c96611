package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/lintreport"
	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

// checkCommands declares the commands that look at files and start nothing.
func (p *program) checkCommands(app *kingpin.Application, do func(func() int) kingpin.Action) {
	check := app.Command("check", "Check files without starting anything.")

	config := check.Command("config", "Check a configuration with all that it names: every mistake as file:line:col, exit code 3; then its rules, exit code 1 for what --fail-on names.")
	var file string
	config.Arg("file", "The configuration file; none with --profile.").StringVar(&file)
	config.PreAction(func(*kingpin.ParseContext) error {
		if file != "" && p.configFile != "" {
			return errors.New("both FILE and --config.file are given: expected one of them")
		}
		p.configFile = cmp.Or(file, p.configFile)
		return nil
	})
	p.configFlags(config)
	syntaxOnly := config.Flag("syntax-only", "Leave out what depends on where Vitals runs: the pod's service account, credentials and their files.").Bool()
	configReport := p.reportFlags(config)
	config.Action(do(func() int { return p.checkConfig(*syntaxOnly, configReport) }))

	cmd := check.Command("rules", "Check rule files and PrometheusRule objects: every mistake as file:line:col, exit code 3; then what is no mistake and still wrong, exit code 1 for what --fail-on names.")
	var files, states, manifests []string
	cmd.Arg("file", "The rule files: paths, globs, or builtin:NAME for a shipped file. Without any, those of the configuration.").StringsVar(&files)
	p.configFlags(cmd)
	cmd.Flag("state", "A state beside ready, alive and started that the rules may name. Repeatable.").StringsVar(&states)
	cmd.Flag("manifest", "A Kubernetes manifest whose probes ask Vitals: are they patient, do they ask for what exists, and can they fail? Repeatable.").PlaceHolder("FILE").StringsVar(&manifests)
	rulesReport := p.reportFlags(cmd)
	cmd.Action(do(func() int { return p.checkRules(files, states, manifests, rulesReport) }))
}

// checkConfig checks a configuration as far as that goes without any I/O beyond
// reading files. With syntaxOnly, it makes no collectors: what they need besides the
// configuration, such as a service account, may exist elsewhere only.
func (p *program) checkConfig(syntaxOnly bool, to *reporter) int {
	l, errs := p.load()
	name := cmp.Or(p.configFile, builtinPrefix+p.profile)
	if len(errs) == 0 && !syntaxOnly {
		if err := checkBuild(l); err != nil {
			errs = []error{err}
		}
	}
	if len(errs) > 0 {
		run := l.besides(errs)
		if to.format == string(lintreport.Text) { // without lines of the file: it may hold secrets
			code := p.fail(errs...)
			to.besides(run)
			return code
		}
		return to.mistakes(name, nil, errs, run)
	}
	code := to.findings(l.lint())
	if code == exitOK && to.format == string(lintreport.Text) {
		fmt.Fprintf(p.stdout, "%s: ok: %s, %s in %s\n", name,
			count(len(l.cfg.Collectors), "collector"), count(countRules(l.files), "rule"), count(len(byName(l.files)), "rule file"))
	}
	return code
}

// checkBuild makes everything that a configuration describes, and starts nothing.
func checkBuild(l *loaded) error {
	b := builder{logger: slog.New(slog.DiscardHandler)}
	cfg, _, err := b.build(l)
	if err != nil {
		return err
	}
	_, err = evaluator.New(cfg, evaluator.Options{})
	return err
}

// checkRules checks rule files: by themselves, or with what a configuration collects, and
// the probes of manifests.
func (p *program) checkRules(paths, states, manifests []string, to *reporter) int {
	run := &lintRun{states: append([]string{evaluator.Ready, evaluator.Alive, evaluator.Started}, states...)}
	configured := p.configFile+p.profile+p.kuryrConf != "" || len(p.set) > 0
	if !configured && len(paths) == 0 {
		return to.mistakes("", nil, []error{errors.New("no rule files: give some, or --config.file=FILE or --profile=NAME for those of a configuration")}, nil)
	}
	if configured {
		l, errs := p.load()
		if len(errs) > 0 {
			return to.mistakes(p.configFile, l.lint().sources(), errs, l.besides(errs))
		}
		run.of(l)
	}
	if errs := append(run.read(paths), run.readManifests(manifests)...); len(errs) > 0 {
		run.partial = true
		return to.mistakes("", run.sources(), errs, run)
	}
	code := to.findings(run)
	if !to.shown && to.format == string(lintreport.Text) {
		for _, f := range byName(run.chosen()) {
			in := ""
			if len(f) > 1 {
				in = " in " + count(len(f), "document")
			}
			fmt.Fprintf(p.stdout, "%s: ok: %s%s%s\n", f[0].Name, count(countRules(f), "rule"), in, to.accepted(f[0].Name))
		}
		for _, m := range run.manifests {
			fmt.Fprintf(p.stdout, "%s: ok: %s%s\n", m.Name, count(countProbes(m), "probe"), to.accepted(m.Name))
		}
	}
	return code
}

func countRules(files []*rules.File) int {
	n := 0
	for _, f := range files {
		for _, g := range f.Groups {
			n += len(g.Rules)
		}
	}
	return n
}

func countProbes(m *manifest.File) int {
	n := 0
	for _, pod := range m.Pods {
		for _, c := range pod.Containers {
			n += len(c.Probes)
		}
	}
	return n
}

func count(n int, what string) string { return text.Plural(n, what) }
