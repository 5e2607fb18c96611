package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/rules"
)

func states() []string { return []string{"ready", "alive", "started"} }

func TestParseGoodFile(t *testing.T) {
	data, err := os.ReadFile("testdata/good.yml")
	if err != nil {
		t.Fatal(err)
	}
	got, errs := rules.Parse("good.yml", data, states())
	if len(errs) > 0 {
		t.Fatalf("Parse() = %v, want no mistakes", errs)
	}
	down := `vitals_dependency_up{dependency="keystone"} == 0`
	want := &rules.File{Name: "good.yml", Groups: []rules.Group{
		{Name: "first", Interval: 15 * time.Second, QueryOffset: time.Minute, Limit: 10,
			Labels: map[string]string{"team": "net", "severity": "critical"},
			Rules: []rules.Rule{
				{Record: "job:up:min", Expr: "min by (job) (up)", Line: 8, Col: 9, Severity: "critical",
					Labels: map[string]string{"team": "net", "severity": "critical"}},
				{Alert: "KeystoneDown", Expr: down, For: 10 * time.Second, KeepFiringFor: 5 * time.Second, Line: 10, Col: 9,
					Labels: map[string]string{"team": "identity", "severity": "critical", "state": "ready"},
					Annotations: map[string]string{
						"summary":    "{{ $labels.dependency | toUpper }} is down: {{ $value | humanize }}",
						"depends_on": "KubernetesDown, NetworkDown ,KubernetesDown",
						"no_data":    "hold", "mode": "observe", "exit_code": "12"},
					State: "ready", Severity: "critical", NoData: rules.NoDataHold, Observe: true, ExitCode: 12,
					DependsOn: []string{"KubernetesDown", "NetworkDown"}},
			}},
		{Name: "second", Rules: []rules.Rule{
			{Alert: "KubernetesDown", Expr: down, Line: 25, Col: 9, State: "ready", Severity: "critical",
				Labels: map[string]string{"state": "ready"}},
			{Alert: "NetworkDown", Expr: "# Any will do.\nup == 0\n", Line: 28, Col: 9, State: "alive", Severity: "warning",
				ExitCode: 119, Labels: map[string]string{"state": "alive", "severity": "warning"},
				Annotations: map[string]string{"exit_code": "119"}},
			{Alert: "Ordinary", Expr: "(up == bool 0) > 0", Line: 34, Col: 9, Severity: "page",
				Labels: map[string]string{"severity": "page", "a.b": "c"}},
		}},
	}}
	ignored := []cmp.Option{
		cmpopts.IgnoreFields(rules.Rule{}, "AST"), cmpopts.IgnoreFields(rules.Group{}, "Line", "Col"),
		cmpopts.IgnoreUnexported(rules.File{}, rules.Rule{}),
	}
	if diff := cmp.Diff(want, got, ignored...); diff != "" {
		t.Errorf("Parse() differs (-want +got):\n%s", diff)
	}
	if got, want := got.Groups[1].Rules[1].AST.String(), "up == 0"; got != want {
		t.Errorf("AST = %s, want %s", got, want)
	}
	if errs := rules.Check([]*rules.File{got}); len(errs) > 0 {
		t.Errorf("Check() = %v, want no mistakes", errs)
	}
}

func TestParsePrometheusRule(t *testing.T) {
	given := `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: x, labels: {a: 1}, anything: [goes, {here: !!binary aGk=}]}
spec:
  groups:
    - name: g
      rules:
        - {alert: A, expr: 1}
status: {bindings: []}
`
	got, errs := rules.Parse("object.yml", []byte(given), states())
	if len(errs) > 0 {
		t.Fatalf("Parse() = %v, want no mistakes", errs)
	}
	if name := got.Groups[0].Rules[0].Name(); name != "A" {
		t.Errorf("Parse() has the rule %q, want A", name)
	}
}

// mistakes holds every bad file of testdata and its errors.
var mistakes = map[string][]string{
	"not_yaml":        {`2:1: not valid YAML: did not find expected node content`},
	"two_documents":   {`2:1: second document, expected exactly one in a file`},
	"unknown_key":     {`6:9: group "g", rule "A": unknown key "annotation", did you mean "annotations"? Expected one of record, alert, expr, for, keep_firing_for, labels, annotations`},
	"unknown_top_key": {`1:1: unknown key "group", did you mean "groups"? Expected one of groups, apiVersion, kind, metadata, spec, status`},
	"several_in_a_rule": {
		`4:16: group "app", rule "App Down", alert: invalid name "App Down" of a rule with a state, expected letters, digits and _, a letter first, such as KeystoneDown`,
		`5:20: group "app", rule "App Down", expr: not valid PromQL: unexpected end of input`,
		`6:14: group "app", rule "App Down", for: expected a duration such as 10s or 5m, got "5x"`,
		`7:26: group "app", rule "App Down", keep_firing_for: expected a duration such as 10s or 5m, got a list`,
		`8:25: group "app", rule "App Down", labels.state: state "redy" is not configured, expected one of ready, alive, started, or a state_label that names another label`,
		`8:41: group "app", rule "App Down", labels.severity: severity "bad" of a rule with a state, expected critical or warning`,
		`8:52: group "app", rule "App Down", labels.team: expected a single text, got a list`,
		`9:32: group "app", rule "App Down", annotations.summary: not a valid template: unclosed action`,
		`9:53: group "app", rule "App Down", annotations.depends_on: depends_on ",", expected names of alerts, separated by commas`,
		`9:69: group "app", rule "App Down", annotations.exit_code: exit_code "0", expected a whole number from 1 to 119, or a template`,
		`10:9: group "app", rule "App Down": unknown key "foo", did you mean "for"? Expected one of record, alert, expr, for, keep_firing_for, labels, annotations`,
		`11:16: group "app", rule 2, alert: expected a single text, got a list`,
		`12:15: group "app", rule 2, expr: expected a single text, got a list`,
		`14:32: group "app", rule 2, annotations.no_data: no_data "never", expected ` + rules.NoDataExpected,
		`16:16: group "app", rule "a b", expr: not valid PromQL: no arguments for aggregate expression provided`,
		`16:20: group "app", rule "a b", expr: not valid PromQL: unclosed left parenthesis`,
		`17:14: group "app", rule "a b", for: for in a recording rule, expected it in alerting rules only`,
		`18:17: group "app", rule "a b", labels: expected a mapping, got a list`},
	"duration": {`6:14: group "g", rule "A", for: expected a duration such as 10s or 5m, got "10 s"`},
	"group_without_name": {
		`2:5: group 1: expected a name for the group, got none`},
	"duplicate_group": {`4:11: group "g", name: duplicate group name, expected it once in a file`},
	"no_name": {
		`4:9: group "g", rule 1: expected one of "record" and "alert", got none`,
		`5:9: group "g", rule 2: expected an expression in expr, got none`,
		`5:9: group "g", rule 2: expected one of "record" and "alert", got none`},
	"two_names":  {`4:9: group "g", rule "A": expected one of "record" and "alert", got both`},
	"alert_name": {`5:16: group "g", rule "Keystone is down", alert: invalid name "Keystone is down" of a rule with a state, expected letters, digits and _, a letter first, such as KeystoneDown`},
	"record_name": {
		`4:17: group "g", rule "up{job=\"x\"}", record: braces in the name "up{job=\"x\"}", expected a metric name; an expression belongs to expr`},
	"record_extras": {
		`6:14: group "g", rule "x:y", for: for in a recording rule, expected it in alerting rules only`,
		`7:26: group "g", rule "x:y", keep_firing_for: keep_firing_for in a recording rule, expected it in alerting rules only`,
		`8:9: group "g", rule "x:y", annotations: annotations in a recording rule, expected them in alerting rules only`,
		`9:25: group "g", rule "x:y", labels.state: state of a recording rule, expected it in alerting rules only: only an alert can feed a state`},
	"no_expr": {`4:9: group "g", rule "A": expected an expression in expr, got none`},
	"promql_plain": {
		`5:32: group "g", rule "A", expr: not valid PromQL: expected type range vector in call to function "rate", got instant vector`},
	"promql_quoted": {`5:42: group "g", rule "A", expr: not valid PromQL: unclosed left parenthesis`},
	"promql_literal": {
		`8:11: group "g", rule "A", expr: not valid PromQL: no arguments for aggregate expression provided`,
		`8:28: group "g", rule "A", expr: not valid PromQL: unexpected <by> in aggregation`,
		`8:36: group "g", rule "A", expr: not valid PromQL: unclosed left parenthesis`},
	"promql_folded": {
		"7:18: group \"g\", rule \"A\", expr: not valid PromQL: error parsing regexp: missing closing ): `(`"},
	"promql_experimental": {
		`5:15: group "g", rule "A", expr: not valid PromQL: function "sort_by_label" is not enabled`,
		`5:44: group "g", rule "A", expr: not valid PromQL: function "mad_over_time" is not enabled`},
	"range_vector": {
		`5:15: group "g", rule "A", expr: expression returns a range vector, expected an instant vector or a scalar`,
		`7:15: group "g", rule "r", expr: expression returns a string, expected an instant vector or a scalar`},
	"top_level_bool": {
		`6:16: group "g", rule "A", expr: comparison with "bool" at the top of an alert is always 0 or 1 and never empty, so the alert would always fire: remove "bool"`,
		`10:13: group "g", rule "B", expr: comparison with "bool" at the top of an alert is always 0 or 1 and never empty, so the alert would always fire: remove "bool" and make one side a vector with vector(...)`},
	"label_name": {
		`6:28: group "g", rule "A", labels.__name__: invalid label name "__name__"`,
		`6:35: group "g", rule "A", labels[""]: invalid label name ""`,
		`7:27: group "g", rule "A", annotations[""]: invalid annotation name ""`},
	"group_label_name": {`3:24: group "g", labels.__name__: invalid label name "__name__"`},
	"template": {
		`6:24: group "g", rule "A", labels.team: not a valid template: unexpected "}" in operand`,
		`8:20: group "g", rule "A", annotations.summary: not a valid template: function "humanise" not defined`,
		`9:24: group "g", rule "A", annotations.description: not a valid template: undefined variable "$who"`},
	"group_template": {`3:20: group "g", labels.team: not a valid template: unclosed action`},
	"state":          {`6:25: group "g", rule "A", labels.state: state "redy" is not configured, expected one of ready, alive, started, or a state_label that names another label`},
	"group_state":    {`3:21: group "g", labels.state: state "redy" is not configured, expected one of ready, alive, started, or a state_label that names another label`},
	"severity":       {`6:42: group "g", rule "A", labels.severity: severity "info" of a rule with a state, expected critical or warning`},
	"no_data":        {`7:32: group "g", rule "A", annotations.no_data: no_data "ignore", expected fail, pass, hold or a hold with an end, such as hold 5m`},
	"misplaced": {
		`5:66: group "g", rule "A", labels.no_data: no_data "pass" has no meaning here, expected it among the annotations`,
		`5:84: group "g", rule "A", labels.depends_on: depends_on "B" has no meaning here, expected it among the annotations`,
		`6:34: group "g", rule "A", annotations.severity: severity "warning" has no meaning here, expected it among the labels`},
	"mode": {`7:29: group "g", rule "A", annotations.mode: mode "observed", expected "observe" or none`},
	"exit_code": {
		`7:34: group "g", rule "A", annotations.exit_code: exit_code "0", expected a whole number from 1 to 119, or a template`,
		`10:34: group "g", rule "B", annotations.exit_code: exit_code "120", expected a whole number from 1 to 119, or a template`,
		`13:34: group "g", rule "C", annotations.exit_code: exit_code "twelve", expected a whole number from 1 to 119, or a template`,
		`16:34: group "g", rule "D", annotations.exit_code: not a valid template: undefined variable "$valeu"`,
		`19:34: group "g", rule "E", annotations.exit_code: exit_code "7.5", expected a whole number from 1 to 119, or a template`},
	"depends_on": {
		`7:35: group "g", rule "A", annotations.depends_on: depends_on "B,,C", expected names of alerts, separated by commas`},
	"object_kind": {
		`1:13: apiVersion: expected "monitoring.coreos.com/v1", got "v1"`,
		`2:7: kind: expected "PrometheusRule", got "ConfigMap"`},
	"object_empty": {
		`1:1: apiVersion: expected "monitoring.coreos.com/v1", got ""`,
		`3:1: spec: expected a spec with groups, got none`},
	"object_without_spec": {
		`1:1: spec: expected a spec with groups, got none`,
		`3:1: groups: expected the groups of a PrometheusRule under spec`},
	"object_spec": {
		`9:21: group "g", rule "A", expr: not valid PromQL: unexpected end of input`,
		`10:11: group "g", rule "A": unknown key "fro", did you mean "for"? Expected one of record, alert, expr, for, keep_firing_for, labels, annotations`},
	"several_at_once": {
		`6:19: group "g", rule "A", expr: not valid PromQL: unexpected end of input`,
		`7:9: group "g", rule "A": unknown key "fro", did you mean "for"? Expected one of record, alert, expr, for, keep_firing_for, labels, annotations`,
		`8:16: group "g", rule "b-c", alert: invalid name "b-c" of a rule with a state, expected letters, digits and _, a letter first, such as KeystoneDown`,
		`10:32: group "g", rule "b-c", annotations.no_data: no_data "never", expected fail, pass, hold or a hold with an end, such as hold 5m`,
		`10:45: group "g", rule "b-c", annotations.mode: mode "x", expected "observe" or none`,
		`12:15: group "g", rule "r", expr: not valid PromQL: no arguments for aggregate expression provided`,
		`12:19: group "g", rule "r", expr: not valid PromQL: unclosed left parenthesis`},
}

func TestParseMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yml")
	if err != nil || len(files) != len(mistakes) {
		t.Errorf("testdata has %d bad files (%v), want the %d of the table", len(files), err, len(mistakes))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bad.yml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			parsed, errs := rules.Parse(name, data, states())
			for _, e := range errs {
				got = append(got, e.Error())
			}
			for _, m := range mistakes[name] {
				want = append(want, name+":"+m)
			}
			if diff := cmp.Diff(want, got); diff != "" || parsed == nil {
				t.Errorf("Parse(%s) = %v, mistakes differ (-want +got):\n%s", name, parsed, diff)
			}
		})
	}
}

func TestParseBoundsExpressions(t *testing.T) {
	given := "groups: [{name: g, rules: [{alert: A, expr: '" + strings.Repeat("(", 100_000) + "'}]}]"
	_, errs := rules.Parse("f", []byte(given), states())
	want := `f:1:45: group "g", rule "A", expr: expression of 100000 bytes, expected at most 65536`
	if len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("Parse() = %v, want %s", errs, want)
	}
}

func ExampleParse() {
	_, errs := rules.Parse("probe.yml", []byte(`
groups:
  - name: kuryr
    rules:
      - alert: KeystoneDown
        expr: up{job="keystone"} == bool 0
        labels: {state: redy}
`), []string{"ready", "alive", "started"})
	for _, err := range errs {
		fmt.Println(err)
	}
	// Output:
	// probe.yml:6:15: group "kuryr", rule "KeystoneDown", expr: comparison with "bool" at the top of an alert is always 0 or 1 and never empty, so the alert would always fire: remove "bool"
	// probe.yml:7:25: group "kuryr", rule "KeystoneDown", labels.state: state "redy" is not configured, expected one of ready, alive, started, or a state_label that names another label
}
