package main

import (
	"fmt"
	"log/slog"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// checkConfig checks a configuration as far as that goes without any I/O beyond
// reading files. With syntaxOnly, it makes no collectors: what they need besides the
// configuration, such as a service account, may exist elsewhere only.
func (p *program) checkConfig(path string, syntaxOnly bool) int {
	l, errs := loadFile(path)
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	if !syntaxOnly {
		if err := checkBuild(l); err != nil {
			return p.fail(err)
		}
	}
	fmt.Fprintf(p.stdout, "%s: ok: %s, %s in %s\n", path,
		count(len(l.cfg.Collectors), "collector"), count(countRules(l.files), "rule"), count(len(l.files), "rule file"))
	return exitOK
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

// checkRules checks rule files by themselves.
func (p *program) checkRules(paths, states []string) int {
	var all []*rules.File
	var errs []error
	states = append([]string{evaluator.Ready, evaluator.Alive, evaluator.Started}, states...)
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		f, mistakes := rules.Parse(path, data, states)
		errs = append(errs, mistakes...)
		all = append(all, f)
	}
	errs = append(errs, rules.Check(all)...)
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	for _, f := range all {
		fmt.Fprintf(p.stdout, "%s: ok: %s\n", f.Name, count(countRules([]*rules.File{f}), "rule"))
	}
	return exitOK
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

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
