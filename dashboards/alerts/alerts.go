// Package alerts has the alert rules about Vitals itself, as files that are edited by
// hand: the alerts, their unit tests, the monitors for the Prometheus Operator, and the
// configuration for Alertmanager. The code adapts copies of them to the options of a user,
// and generates prometheusrule.yaml and the inhibitions of alertmanager.yml from rules.
package alerts

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

//go:embed alerts.yml alerts_test.yml alertmanager.yml podmonitor.yaml servicemonitor.yaml
var sources embed.FS

// The defaults of Options. The files in this folder contain them.
const (
	// DefaultSelector matches the targets of a scrape job named vitals.
	DefaultSelector = `job="vitals"`
	// DefaultRunbooks is the address of the runbooks in this repository.
	DefaultRunbooks = "https://github.com/vitals-health/vitals/blob/main/docs/runbooks/NAME.md"
)

// Options are the parts of the alerts that a user can choose.
type Options struct {
	// Selector matches the series of all monitored instances of Vitals. It is PromQL
	// without the braces; DefaultSelector if empty.
	Selector string
	// Runbooks is the address of an alert's runbook, with NAME for the name of the alert;
	// DefaultRunbooks if empty.
	Runbooks string
	// Grafana is the base URL of Grafana. If it is empty, links to dashboards begin with /d/.
	Grafana string
	// Rules are the rule files that Prometheus loads as well. They must be free of errors.
	Rules []*rules.File
	// Labels returns the labels of a metric, or none for an unknown metric. A nil function
	// is the same as one that returns none.
	Labels func(metric string) []string
}

// Files returns the files about alerts, adapted to the options. alerts_test.yml is missing
// if no labels of a target follow from the selector. Files returns an error if an option is
// invalid.
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
		{"servicemonitor.yaml", func() ([]byte, error) { return s.monitor("servicemonitor.yaml"), nil }},
		{"podmonitor.yaml", func() ([]byte, error) { return s.monitor("podmonitor.yaml"), nil }},
		{"alertmanager.yml", func() ([]byte, error) { return s.alertmanager(), nil }},
		{"mixin.libsonnet", func() ([]byte, error) { return s.mixin(), nil }},
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

// set has the options with their defaults applied.
type set struct {
	Options
	matchers []*labels.Matcher
}

func newSet(opts Options) (*set, error) {
	s := &set{Options: opts}
	s.Selector = cmp.Or(opts.Selector, DefaultSelector)
	s.Runbooks = cmp.Or(opts.Runbooks, DefaultRunbooks)
	s.Grafana = strings.TrimSuffix(opts.Grafana, "/")
	expr, err := promexpr.Parse("{" + s.Selector + "}")
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

// source returns an embedded file.
func source(name string) string {
	data, err := sources.ReadFile(name)
	if err != nil {
		panic("internal error: " + err.Error()) // the names are constants
	}
	return string(data)
}

// rewrite returns an embedded YAML file, with its comments, after applying edit to each
// node. Children come before their parents.
func rewrite(name string, edit func(*yaml.Node) error) ([]byte, error) {
	roots, problem := strictyaml.Documents(name, []byte(source(name)))
	if problem != nil {
		return nil, problem
	}
	if err := walk(roots[0], edit); err != nil {
		return nil, err
	}
	return strictyaml.EncodeAll(roots[0])
}

func walk(n *yaml.Node, edit func(*yaml.Node) error) error {
	for _, child := range n.Content {
		if err := walk(child, edit); err != nil {
			return err
		}
	}
	return edit(n)
}

// ruleFile returns alerts.yml.
func (s *set) ruleFile() ([]byte, error) {
	return rewrite("alerts.yml", func(n *yaml.Node) error {
		n.Value = s.adapt(n.Value)
		return nil
	})
}

// adapt replaces the defaults in a scalar of a file by the options.
func (s *set) adapt(text string) string {
	before, after, _ := strings.Cut(DefaultRunbooks, "NAME")
	if alert, ok := strings.CutPrefix(text, before); ok {
		return strings.ReplaceAll(s.Runbooks, "NAME", strings.TrimSuffix(alert, after))
	}
	if strings.HasPrefix(text, "/d/") {
		return s.Grafana + text
	}
	return strings.ReplaceAll(text, DefaultSelector, s.Selector)
}

// fixed returns the labels whose value the selector determines.
func (s *set) fixed() map[string]string {
	values := map[string]string{}
	for _, m := range s.matchers {
		if m.Type == labels.MatchEqual {
			values[m.Name] = m.Value
		}
	}
	return values
}

// monitor returns servicemonitor.yaml or podmonitor.yaml. Targets get the job that the
// alerts select. If the selector does not name exactly one job, they keep theirs.
func (s *set) monitor(name string) []byte {
	const relabeling = "        - action: replace\n          targetLabel: job # as the alerts select it\n          replacement: \"vitals\"\n"
	text := source(name)
	job, ok := s.fixed()["job"]
	if !ok {
		return []byte(strings.TrimSuffix(strings.TrimSuffix(text, relabeling), "      relabelings:\n"))
	}
	// A JSON string is a YAML string; relabeling expands $name.
	return []byte(strings.Replace(text, `"vitals"`, strings.ReplaceAll(fmt.Sprintf("%q", job), "$", "$$"), 1))
}

// mixin returns the mixin, which imports files of its own folder only.
func (s *set) mixin() []byte {
	text := strings.Replace(dashboards.Mixin(), "'alerts/alerts.yml'", "'alerts.yml'", 1)
	return []byte(strings.ReplaceAll(text, jsonnetString(DefaultSelector), jsonnetString(s.Selector)))
}

// jsonnetString returns a Jsonnet string literal as Jsonnet's formatter writes it.
func jsonnetString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
