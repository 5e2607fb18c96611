package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// generateAlerts declares the command generate alerts.
func (p *program) generateAlerts(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("alerts", "Write alerts about Vitals itself with their unit tests, the objects of the Prometheus Operator for them and for rule files, an example for Alertmanager in which causes silence their consequences, and a mixin.")
	var names, states []string
	opts := alerts.Options{Labels: labelsOfMetrics()}
	cmd.Flag("rules", "A rule file that Prometheus loads as well, or builtin:NAME for a shipped one. Repeatable; by default those of Kuryr's profiles.").PlaceHolder("FILE").StringsVar(&names)
	cmd.Flag("state", "A state beside ready, alive and started that the rules may name. Repeatable.").StringsVar(&states)
	cmd.Flag("selector", "What the series of every Vitals have in common in Prometheus: matchers of labels. By default "+alerts.DefaultSelector+".").PlaceHolder("MATCHERS").StringVar(&opts.Selector)
	cmd.Flag("runbook-url", "Where the runbooks are, with NAME in the place of the alert's name.").Default(alerts.DefaultRunbooks).StringVar(&opts.Runbooks)
	cmd.Flag("grafana-url", "Where Grafana is, for the links to dashboards. By default they begin with /d/.").PlaceHolder("URL").StringVar(&opts.Grafana)
	out := outputFlags(cmd)
	cmd.Action(do(func() int {
		var errs []error
		if opts.Rules, errs = readRulesOfMany(names, states); len(errs) > 0 {
			return p.fail(errs...)
		}
		files, err := alerts.Files(opts)
		if err != nil {
			return p.fail(err)
		}
		return p.put(files, out)
	}))
}

// readRulesOfMany reads the rule files of a Prometheus: it may scrape several Vitals,
// whose files have alerts of the same names and labels.
func readRulesOfMany(names, states []string) ([]*rules.File, []error) {
	if len(names) == 0 {
		names = kuryrRules()
	}
	names, errs := ruleFiles(names)
	var files []*rules.File
	for _, name := range names {
		own, mistakes := parseRules([]string{name}, states)
		files = append(files, own...)
		together := (&lintRun{files: own}).together()
		errs = append(append(errs, mistakes...), slices.DeleteFunc(together, isUnknownCause)...) // it may be in another file
	}
	return files, append(errs, slices.DeleteFunc(rules.Check(files), func(err error) bool { return !isUnknownCause(err) })...)
}

func isUnknownCause(err error) bool {
	var e *strictyaml.Error
	return errors.As(err, &e) && e.Code == rules.CodeUnknownCause
}

// kuryrRules are the shipped rule files for workloads in Kubernetes.
func kuryrRules() []string {
	return slices.DeleteFunc(shippedRules(), func(name string) bool { return !strings.HasPrefix(name, builtinPrefix+"kuryr-") })
}

// labelsOfMetrics tells the labels of everything that Vitals can export.
func labelsOfMetrics() func(metric string) []string {
	all := map[string]map[string]bool{}
	for _, m := range anyVocabulary().Metrics {
		if all[m.Name] == nil {
			all[m.Name] = map[string]bool{}
		}
		for name := range m.Labels {
			all[m.Name][name] = true
		}
	}
	return func(metric string) []string { return slices.Sorted(maps.Keys(all[metric])) }
}
