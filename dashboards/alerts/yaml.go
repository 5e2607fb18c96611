package alerts

import (
	"strings"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// The forms of a rule file, as they are written.
type (
	rulesYAML struct {
		Groups []groupYAML `yaml:"groups"`
	}
	groupYAML struct {
		Name        string            `yaml:"name"`
		Interval    model.Duration    `yaml:"interval,omitempty"`
		QueryOffset model.Duration    `yaml:"query_offset,omitempty"`
		Limit       int               `yaml:"limit,omitempty"`
		Labels      map[string]string `yaml:"labels,omitempty"`
		Rules       []ruleYAML        `yaml:"rules"`
	}
	ruleYAML struct {
		Record        string            `yaml:"record,omitempty"`
		Alert         string            `yaml:"alert,omitempty"`
		Expr          string            `yaml:"expr"`
		For           model.Duration    `yaml:"for,omitempty"`
		KeepFiringFor model.Duration    `yaml:"keep_firing_for,omitempty"`
		Labels        map[string]string `yaml:"labels,omitempty"`
		Annotations   map[string]string `yaml:"annotations,omitempty"`

		// comment are lines that begin with "#".
		comment string
	}
)

// MarshalYAML writes the rule's comment above it.
func (r ruleYAML) MarshalYAML() (any, error) {
	type plain ruleYAML
	return commented(r.comment, plain(r))
}

// commented is what is written, below a comment where there is one.
func commented(comment string, v any) (any, error) {
	if comment == "" {
		return v, nil
	}
	return strictyaml.Commented(comment, v)
}

// groupName is the group of the alerts about Vitals.
const groupName = "vitals"

// ruleFileHead stands above the alerts.
const ruleFileHead = `# Alerts about Vitals itself, made by "vitals generate alerts". Prometheus loads them as
# they are; each has a runbook. docs/alerting.md says more.
`

// group are the alerts about Vitals as they are written.
func (s *set) group() groupYAML {
	g := groupYAML{Name: groupName}
	for _, a := range alerts() {
		g.Rules = append(g.Rules, ruleYAML{
			Alert: a.name, Expr: s.fill(a.expr), For: model.Duration(a.hold),
			Labels: map[string]string{"severity": a.severity}, Annotations: s.annotations(a),
		})
	}
	return g
}

// fill puts the selector in its place.
func (s *set) fill(text string) string { return strings.ReplaceAll(text, "$job", s.Selector) }

func (s *set) annotations(a alert) map[string]string {
	return map[string]string{
		"summary":       a.summary,
		"description":   s.fill(a.description),
		"runbook_url":   strings.ReplaceAll(s.Runbooks, "NAME", a.name),
		"dashboard_url": s.dashboardURL(a),
	}
}

// dashboardURL leads to a dashboard of what the alert is about. It is a template; what a
// label that the alert has not would choose stays empty.
func (s *set) dashboardURL(a alert) string {
	url := s.Grafana + "/d/" + a.dashboard + "?var-job={{ $labels.job }}&var-instance={{ $labels.instance }}"
	if a.chosen != "" {
		url += "&var-" + a.chosen + "={{ $labels." + a.chosen + " }}"
	}
	return url
}

// ruleFile makes alerts.yml.
func (s *set) ruleFile() ([]byte, error) {
	text, err := strictyaml.EncodeAll(rulesYAML{[]groupYAML{s.group()}})
	return append([]byte(ruleFileHead), text...), err
}
