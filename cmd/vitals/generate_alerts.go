package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/rules"
)

// generateAlerts declares the command generate alerts.
func (p *program) generateAlerts(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("alerts", "Write alerts about Vitals itself with unit tests, objects of the Prometheus Operator for them and for rule files, an example for Alertmanager in which causes inhibit their consequences, and a mixin.")
	var names []string
	var rule rules.Options
	opts := alerts.Options{Labels: labelsOfMetrics()}
	cmd.Flag("rules", "A rule file that Prometheus loads as well, or builtin:NAME for a shipped one. Repeatable; by default those of Kuryr's profiles.").PlaceHolder("FILE").StringsVar(&names)
	cmd.Flag("state", "A state that the rules may name, in addition to ready, alive and started. Repeatable.").StringsVar(&rule.States)
	stateLabelFlag(cmd, &rule.StateLabel)
	cmd.Flag("selector", "Label matchers that select the series of every Vitals in Prometheus. By default "+alerts.DefaultSelector+".").PlaceHolder("MATCHERS").StringVar(&opts.Selector)
	cmd.Flag("runbook-url", "The address of a runbook, with NAME for the name of the alert.").Default(alerts.DefaultRunbooks).StringVar(&opts.Runbooks)
	cmd.Flag("grafana-url", "The base URL of Grafana for links to dashboards. By default they begin with /d/.").PlaceHolder("URL").StringVar(&opts.Grafana)
	out := outputFlags(cmd, "dashboards")
	cmd.Action(do(func() int {
		var errs []error
		if len(names) == 0 {
			names = kuryrRules()
		}
		if opts.Rules, errs = rulecheck.ReadApart(names, rule); len(errs) > 0 {
			return p.fail(errs...)
		}
		files, err := alerts.Files(opts)
		if err != nil {
			return p.fail(err)
		}
		return p.put(files, out)
	}))
}

// kuryrRules are the shipped rule files for workloads in Kubernetes.
func kuryrRules() []string {
	return slices.DeleteFunc(config.ShippedRules(), func(name string) bool { return !strings.HasPrefix(name, config.BuiltinPrefix+"kuryr-") })
}

// labelsOfMetrics returns a function that returns the labels of a metric of Vitals.
func labelsOfMetrics() func(metric string) []string {
	all := map[string]map[string]bool{}
	for _, m := range rulecheck.AnyVocabulary().Metrics {
		if all[m.Name] == nil {
			all[m.Name] = map[string]bool{}
		}
		for name := range m.Labels {
			all[m.Name][name] = true
		}
	}
	return func(metric string) []string { return slices.Sorted(maps.Keys(all[metric])) }
}
