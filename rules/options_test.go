package rules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/rules"
)

// Another label makes an alert a rule of a state; the label state is then one of many.
func TestStateLabel(t *testing.T) {
	const given = `groups:
  - name: g
    rules:
      - {alert: Probe, expr: up == 0, labels: {vitals: ready, state: x}}
      - {alert: An alert, expr: up == 0, labels: {state: degraded}}
      - {alert: a-b, expr: up == 0, labels: {vitals: ready}}
      - {alert: B, expr: up == 0, labels: {vitals: redy}}
      - {record: c, expr: up, labels: {vitals: ready}}
`
	want := []string{
		`f.yml:6:17: group "g", rule "a-b", alert: invalid name "a-b" of a rule with a state, expected letters, digits and _, a letter first, such as KeystoneDown`,
		`f.yml:7:52: group "g", rule "B", labels.vitals: state "redy" is not configured, expected one of ready, alive, started, or a state_label that names another label`,
		`f.yml:8:48: group "g", rule "c", labels.vitals: state of a recording rule, expected it in alerting rules only: only an alert can feed a state`,
	}
	files, errs := rules.Options{States: states(), StateLabel: "vitals"}.ParseAll("f.yml", []byte(given))
	if diff := cmp.Diff(want, texts(errs)); diff != "" {
		t.Errorf("ParseAll() differs (-want +got):\n%s", diff)
	}
	got := files[0].Groups[0].Rules
	if files[0].StateLabel() != "vitals" || got[0].State != "ready" || got[1].State != "" {
		t.Errorf("ParseAll() has the label %q and the states %q and %q, want vitals, ready and none", files[0].StateLabel(), got[0].State, got[1].State)
	}
}

// Without a parser, a template is a mistake with its place. Its text never becomes an annotation.
func TestTemplatesAreAnOption(t *testing.T) {
	const given = `groups:
  - name: g
    labels: {team: "{{ $labels.team }}"}
    rules:
      - alert: Plain
        expr: up == 0
        annotations: {summary: "a }} b { {"}
      - alert: Templated
        expr: up == 0
        labels: {of: "{{ $labels.job }}"}
        annotations:
          summary: "{{ $value }} of {{"
`
	const mistake = `template in a program without templates, expected a text without "{{", or Options.Templates in the program (vitals.Templates())`
	want := []string{
		`f.yml:3:20: group "g", labels.team: ` + mistake,
		`f.yml:10:22: group "g", rule "Templated", labels.of: ` + mistake,
		`f.yml:12:20: group "g", rule "Templated", annotations.summary: ` + mistake,
	}
	files, errs := rules.Options{States: states()}.ParseAll("f.yml", []byte(given))
	if diff := cmp.Diff(want, texts(errs)); diff != "" {
		t.Errorf("ParseAll() without templates differs (-want +got):\n%s", diff)
	}
	if tmpl, err := files[0].Groups[0].Rules[1].Template("t", "{{ $value }}"); tmpl != nil || !errors.Is(err, expand.ErrNoParser) {
		t.Errorf("Template() = %v, %v, want nil, ErrNoParser", tmpl, err)
	}
	_, errs = rules.Options{States: states(), Templates: rules.Templates()}.ParseAll("f.yml", []byte(strings.ReplaceAll(given, " of {{", "")))
	if len(errs) != 0 {
		t.Errorf("ParseAll() with templates = %v, want no error", errs)
	}
}

// What the definition of a PrometheusRule has.
func TestObjectsOfOtherProjects(t *testing.T) {
	const head = "kind: PrometheusRule\nmetadata: {name: x}\nspec:\n  groups:\n    - {name: g, rules: [{alert: A, expr: up}]"
	tests := []struct{ name, given, want string }{
		{"group for several tenants", "apiVersion: monitoring.rhobs/v1\n" + head + "}\n", ""},
		{"partial response", "apiVersion: monitoring.coreos.com/v1\n" + head + ", partial_response_strategy: warn}\n", ""},
		{"partial response of another value", "apiVersion: monitoring.coreos.com/v1\n" + head + ", partial_response_strategy: no}\n",
			`f.yml:6:75: group "g", partial_response_strategy: expected abort or warn, got "no"`},
		{"partial response of no object", "groups: [{name: g, partial_response_strategy: warn}]",
			`f.yml:1:47: group "g", partial_response_strategy: key of Thanos Ruler, which Prometheus refuses: expected it in a PrometheusRule only`},
		{"list", "apiVersion: monitoring.rhobs/v1\nkind: PrometheusRuleList\nitems: []\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			_, errs := rules.ParseAll("f.yml", []byte(tt.given), states())
			if diff := cmp.Diff(want, texts(errs)); diff != "" {
				t.Errorf("ParseAll() differs (-want +got):\n%s", diff)
			}
		})
	}
}
