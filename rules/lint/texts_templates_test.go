package lint_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// textsOfTemplates concern templates and other parts outside of conditions.
func textsOfTemplates() []textTest {
	return []textTest{
		{
			name: "templates that fail", code: "V040",
			rules: "- alert: A\n  expr: up == 0\n  labels: {a: '{{ .Alerts }}'}\n  annotations:\n" +
				"    b: '{{ $labels.x.y }}'\n    c: '{{ printf \"%d\" $value }}'\n    d: '{{ query \"sum(\" | len }}'\n" +
				"    e: '{{ query `label_replace(up, \"\", \"\", \"\", \"\")` | len }}'\n    f: '{{ query (printf \"up{a=%s}\" $labels.a) | len }}'\n",
			want: []string{
				`the template of the label a fails: <.Alerts>: can't evaluate field Alerts, only Labels, ExternalLabels, ExternalURL and Value: correct the template, and try it with a test of the rules (vitals test rules)`,
				`the template of the annotation b fails: <$labels.x.y>: can't evaluate field y in type string: correct the template, and try it with a test of the rules (vitals test rules)`,
				`the template of the annotation c fails: it prints %!d(float64=1): correct the template, and try it with a test of the rules (vitals test rules)`,
				`the template of the annotation d fails: its query sum( is not valid PromQL: unclosed left parenthesis: correct the template, and try it with a test of the rules (vitals test rules)`,
				`the template of the annotation e fails: its query label_replace(up, "", "", "", "") fails: "" in label_replace is not a valid name of a label: correct the template, and try it with a test of the rules (vitals test rules)`,
				`the template of the annotation f fails: its query up{a=sample-of-a-long-name.example.com:9100/path} is not valid PromQL: unexpected identifier "sample" in label matching, expected string: correct the template, and try it with a test of the rules (vitals test rules)`,
			},
		},
		{
			name: "ratios", code: "V041",
			rules: alert("ready", `sum(a / b) > 1`, "") + alert("ready", `avg(a_sum / a_count) > 1`, "  for: 1m\n"),
			want: []string{
				`the sum of a / b over several series is not the ratio of the whole: each series counts alike, however large it is: divide the sums: sum(a) / sum(b), with the same by or without in both`,
				`the avg of a_sum / a_count over several series is not the ratio of the whole: each series counts alike, however large it is: divide the sums: sum(a) / sum(b), with the same by or without in both`,
			},
		},
		{
			name: "a choice", code: "V043",
			rules: alert("ready", `topk(1, a) > 1`, ""),
			want: []string{
				`topk chooses series, and the choice changes: each change creates a new alert, whose "for" restarts: compare all series, and keep the choice for dashboards; max or min returns the extreme value`,
			},
		},
	}
}

// Templates that use much memory or time are bounded, and fail.
func TestTemplatesThatDoTooMuch(t *testing.T) {
	for _, template := range []string{
		`{{ range $i, $a := query "a" }}{{ range query "a" }}{{ range query "a" }}{{ range query "a" }}{{ range query "a" }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ printf "%1000000d" 1 }}`,
		`{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}`,
		`{{ slice $labels.a 5 1 }}{{ index $labels 1 }}`,
		`{{ call $labels.a }}`,
	} {
		text := "groups: [{name: g, rules: [{alert: A, expr: up == 0, annotations: {a: '" + strings.ReplaceAll(template, "'", "''") + "'}}]}]"
		f := parse(t, "f.yml", text)
		found := lint.Check([]*rules.File{f}, lint.Options{})
		if len(found) != 1 || found[0].Code != "V040" {
			t.Errorf("findings of %s = %v, want V040", template, found)
		}
	}
}
