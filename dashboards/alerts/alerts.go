// Package alerts has the alerts about Vitals itself, and what goes with them: unit tests,
// objects of the Prometheus Operator, inhibitions of Alertmanager and a mixin.
package alerts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/rules"
)

// The defaults of Options.
const (
	// DefaultSelector matches the targets of a scrape job named vitals.
	DefaultSelector = `job="vitals"`
	// DefaultRunbooks are the pages of this repository.
	DefaultRunbooks = "https://github.com/vitals-health/vitals/blob/main/docs/runbooks/NAME.md"
)

// Options are what the alerts about Vitals depend on.
type Options struct {
	// Selector matches the series of all Vitals that the alerts watch, as in PromQL
	// without the braces; DefaultSelector if empty.
	Selector string
	// Runbooks is the address of an alert's runbook, with NAME for the alert's name;
	// DefaultRunbooks if empty.
	Runbooks string
	// Grafana is the address of Grafana; without it the links to dashboards begin with /d/.
	Grafana string
	// Rules are the rule files that Prometheus loads as well, free of mistakes.
	Rules []*rules.File
	// Labels returns the labels of a metric, none for one that it does not know; nil
	// knows no metric.
	Labels func(metric string) []string
}

// Files makes everything about alerts that is in this folder: the alerts with their
// unit tests, and what makes Prometheus, its operator and Alertmanager know them. There
// are no unit tests where the selector says too little of the targets that it matches.
// It returns an error for options that mean nothing.
func Files(opts Options) ([]dashboards.File, error) {
	s, err := newSet(opts)
	if err != nil {
		return nil, err
	}
	var files []dashboards.File
	for _, f := range []struct {
		name   string
		render func() ([]byte, error)
	}{
		{"alerts.yml", s.ruleFile},
		{"alerts_test.yml", s.tests},
		{"prometheusrule.yaml", s.objects},
		{"servicemonitor.yaml", s.serviceMonitor},
		{"podmonitor.yaml", s.podMonitor},
		{"alertmanager.yml", s.alertmanager},
		{"mixin.libsonnet", s.mixin},
	} {
		data, err := f.render()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if data != nil {
			files = append(files, dashboards.File{Name: f.name, Data: data})
		}
	}
	return files, nil
}

// set is what the files are made of: the options with their defaults.
type set struct {
	Options
	matchers []*labels.Matcher
}

func newSet(opts Options) (*set, error) {
	s := &set{Options: opts}
	s.Selector = cmp.Or(opts.Selector, DefaultSelector)
	s.Runbooks = cmp.Or(opts.Runbooks, DefaultRunbooks)
	s.Grafana = strings.TrimSuffix(opts.Grafana, "/")
	expr, err := parser.NewParser(parser.Options{}).ParseExpr("{" + s.Selector + "}")
	if err != nil {
		return nil, fmt.Errorf("selector %q: expected matchers of labels such as %s: %w", s.Selector, DefaultSelector, err)
	}
	if v, ok := expr.(*parser.VectorSelector); ok {
		s.matchers = v.LabelMatchers
	}
	var texts []string
	for _, m := range s.matchers {
		if m.Name == model.MetricNameLabel {
			return nil, fmt.Errorf("selector %q: expected matchers of labels such as %s, and no name of a metric", s.Selector, DefaultSelector)
		}
		texts = append(texts, m.String())
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("selector %q: expected matchers of labels such as %s, and no expression", s.Selector, DefaultSelector)
	}
	s.Selector = strings.Join(texts, ",")
	if !strings.Contains(s.Runbooks, "NAME") {
		return nil, fmt.Errorf("address of runbooks %q: expected NAME in the place of the alert's name", s.Runbooks)
	}
	return s, nil
}
