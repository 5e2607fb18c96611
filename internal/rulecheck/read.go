package rulecheck

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/filekind"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// ReadTogether reads rule files that are loaded together, and returns every error. The
// states of the options are in addition to those that always exist.
func ReadTogether(names []string, opts rules.Options) ([]*rules.File, []error) {
	files, errs := parseRules(names, opts)
	return files, append(errs, rules.Check(files)...)
}

// parseRules reads rule files and returns the errors in each of them.
func parseRules(names []string, opts rules.Options) ([]*rules.File, []error) {
	var files []*rules.File
	var errs []error
	opts.Templates = rules.Templates()
	opts.States = append([]string{evaluator.Ready, evaluator.Alive, evaluator.Started}, opts.States...)
	for _, name := range names {
		data, err := readRuleFile(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		own, mistakes := config.ForFile(opts, name).ParseAll(name, data)
		errs = append(errs, filekind.Instead(name, data, filekind.Rules, mistakes)...)
		files = append(files, own...)
	}
	return files, errs
}

// readRuleFile reads a rule file, or a shipped one.
func readRuleFile(name string) ([]byte, error) {
	shipped, ok := strings.CutPrefix(name, config.BuiltinPrefix)
	if !ok {
		return config.ReadFile(name)
	}
	data, err := fs.ReadFile(rules.Shipped(), shipped+".yml")
	if err != nil {
		return nil, fmt.Errorf("expected one of the shipped files %s", strings.Join(config.ShippedRules(), ", "))
	}
	return data, nil
}

// ReadApart reads the rule files of a Prometheus that scrapes several Vitals. The files of
// different Vitals may have alerts of the same names and labels.
func ReadApart(names []string, opts rules.Options) ([]*rules.File, []error) {
	names, errs := RuleFiles(names)
	var files []*rules.File
	for _, name := range names {
		own, mistakes := parseRules([]string{name}, opts)
		files = append(files, own...)
		together := (&Set{Files: own}).together()
		errs = append(append(errs, mistakes...), slices.DeleteFunc(together, isUnknownCause)...) // it may be in another file
	}
	return files, append(errs, slices.DeleteFunc(rules.Check(files), func(err error) bool { return !isUnknownCause(err) })...)
}

func isUnknownCause(err error) bool {
	var e *strictyaml.Error
	return errors.As(err, &e) && e.Code == rules.CodeUnknownCause
}
