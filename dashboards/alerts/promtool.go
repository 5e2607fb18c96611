package alerts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// The form of promtool's unit tests.
type (
	testsYAML struct {
		RuleFiles          []string   `yaml:"rule_files"`
		EvaluationInterval string     `yaml:"evaluation_interval"`
		Tests              []testYAML `yaml:"tests"`
	}
	testYAML struct {
		Name     string       `yaml:"name"`
		Interval string       `yaml:"interval"`
		Input    []seriesYAML `yaml:"input_series"`
		Alerts   []lookYAML   `yaml:"alert_rule_test"`
	}
	seriesYAML struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	lookYAML struct {
		At     string       `yaml:"eval_time"`
		Alert  string       `yaml:"alertname"`
		Expect []expectYAML `yaml:"exp_alerts"`
	}
	expectYAML struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	}
)

const testsHead = `# Unit tests of alerts.yml, made by "vitals generate alerts": promtool test rules alerts_test.yml
`

// tests makes alerts_test.yml, or nothing where no target can be thought of.
func (s *set) tests() ([]byte, error) {
	const step = "15s"
	target, ok := s.target()
	if !ok {
		return nil, nil
	}
	file := testsYAML{RuleFiles: []string{"alerts.yml"}, EvaluationInterval: step}
	for _, a := range alerts() {
		for _, c := range a.cases {
			test := testYAML{Name: a.name + ": " + c.name, Interval: step}
			for _, line := range c.series {
				test.Input = append(test.Input, seriesOf(line, target))
			}
			for _, m := range c.moments {
				look := lookYAML{At: m.at, Alert: a.name, Expect: []expectYAML{}}
				for _, i := range m.fires {
					look.Expect = append(look.Expect, s.expect(a, i, target))
				}
				test.Alerts = append(test.Alerts, look)
			}
			file.Tests = append(file.Tests, test)
		}
	}
	text, err := strictyaml.EncodeAll(file)
	return append([]byte(testsHead), text...), err
}

// target are labels of a target that the selector matches, and false where it cannot be
// told which, or where it matches that of another job as well.
func (s *set) target() (map[string]string, bool) {
	target := map[string]string{"job": "vitals", "instance": theInstance}
	for _, m := range s.matchers {
		switch values := m.SetMatches(); {
		case m.Type == labels.MatchEqual:
			target[m.Name] = m.Value
		case m.Type == labels.MatchRegexp && len(values) > 0:
			target[m.Name] = values[0]
		}
	}
	return target, s.matches(target) && !s.matches(map[string]string{"job": otherJob})
}

func (s *set) matches(target map[string]string) bool {
	return !slices.ContainsFunc(s.matchers, func(m *labels.Matcher) bool { return !m.Matches(target[m.Name]) })
}

// seriesOf is a series of a case with the target's labels. A series with a job is one of
// another target, which has that label only.
func seriesOf(line string, target map[string]string) seriesYAML {
	series, values, _ := strings.Cut(line, "} ")
	name, own, _ := strings.Cut(series, "{")
	var all []string
	if !strings.HasPrefix(own, "job=") {
		for _, l := range slices.Sorted(maps.Keys(target)) {
			all = append(all, fmt.Sprintf("%s=%q", l, target[l]))
		}
	}
	if own != "" {
		all = append(all, own)
	}
	return seriesYAML{name + "{" + strings.Join(all, ",") + "}", values}
}

// expect is an alert that fires as promtool wants to see it.
func (s *set) expect(a alert, i instance, target map[string]string) expectYAML {
	e := expectYAML{Labels: maps.Clone(target), Annotations: s.annotations(a)}
	if i.absent {
		e.Labels = s.demanded()
	}
	maps.Copy(e.Labels, i.labels)
	e.Labels["severity"] = a.severity
	e.Annotations["description"] = strings.ReplaceAll(s.fill(i.description), theInstance, target["instance"])
	for _, l := range []string{"job", "instance", a.chosen} {
		e.Annotations["dashboard_url"] = strings.ReplaceAll(e.Annotations["dashboard_url"], "{{ $labels."+l+" }}", e.Labels[l])
	}
	return e
}

// demanded are the labels that absent() knows of what is not there.
func (s *set) demanded() map[string]string {
	known := map[string]string{}
	for _, m := range s.matchers {
		if m.Type == labels.MatchEqual {
			known[m.Name] = m.Value
		}
	}
	return known
}
