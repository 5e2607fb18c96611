package rules_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

// snippet is a rule file, named after its peculiarity.
type snippet struct{ name, given string }

// rule wraps one rule, in flow style, into a file.
func rule(body string) string {
	return "groups: [{name: g, rules: [{" + body + "}]}]"
}

// accepted returns files that load both into Prometheus and here.
func accepted() []snippet {
	return []snippet{
		{"no groups", "groups: []"},
		{"empty mapping", "{}"},
		{"null groups", "groups:"},
		{"group without rules", "groups: [{name: g}]"},
		{"group with everything", "groups: [{name: g, interval: 1m, limit: 3, query_offset: 5s, labels: {a: b}, rules: []}]"},
		{"limit as a float", `groups: [{name: g, limit: 5.0}]`},
		{"alert", rule("alert: A, expr: up == 0")},
		{"alert with everything", rule("alert: A, expr: up == 0, for: 1h30m, keep_firing_for: 5m, labels: {a: b}, annotations: {c: d}")},
		{"recording rule", rule("record: 'a:b', expr: sum(up), labels: {x: y}")},
		{"number as the expression", rule("alert: A, expr: 1")},
		{"duration expression", rule("alert: A, expr: 'rate(x[5m * 2] offset (1h / 2))'")},
		{"number as a label", rule("alert: A, expr: 1, labels: {a: 1, b: true}")},
		{"empty label", rule("alert: A, expr: 1, labels: {a: }")},
		{"label in UTF-8", rule(`alert: A, expr: 1, labels: {"größe.x": y}`)},
		{"annotation in UTF-8", rule(`alert: A, expr: 1, annotations: {"ins-tance": y}`)},
		{"metric name in UTF-8", rule(`record: "größe.x", expr: 1`)},
		{"empty durations", rule("alert: A, expr: 1, for: , keep_firing_for: ")},
		{"zero duration", rule("alert: A, expr: 1, for: 0")},
		{"recording rule with zero for", rule("record: a, expr: up, for: 0s")},
		{"recording rule with empty annotations", rule("record: a, expr: up, annotations: {}")},
		{"recording rule with a broken template", rule("record: a, expr: up, labels: {a: '{{'}")},
		{"template", rule("alert: A, expr: up, annotations: {a: '{{ $labels.x }} {{ $value | humanize1024 }} {{ .ExternalURL }}'}")},
		{"template with control flow", rule(`alert: A, expr: up, annotations: {a: '{{ range query "up" }}{{ .Labels.job }}{{ break }}{{ end }}'}`)},
		{"template that defines", rule(`alert: A, expr: up, annotations: {a: '{{ define "x" }}y{{ end }}{{ template "x" }}'}`)},
		{"empty file", ""},
		{"only a comment", "# nothing"},
		{"alert name that is no path element", rule("alert: a b, expr: up")},
		{"alert on a comparison with bool", rule("alert: A, expr: up == bool 0")},
		{"reserved annotation", rule("alert: A, expr: up, annotations: {mode: x}")},
		{"alerts with the same name and labels", "groups: [{name: g, rules: [{alert: A, expr: a == 0}, {alert: A, expr: b == 0}]}]"},
		{"unusual annotations", rule("alert: A, expr: up, annotations: {no_data: none, exit_code: 0, depends_on: 'x,,y', severity: page, state: ready}")},
		{"state of a recording rule", rule("record: a, expr: up, labels: {state: running}")},
		{"alias", "groups: [{name: g, rules: [{alert: A, expr: &e up}, {alert: B, expr: *e}]}]"},
		{"merge key", "groups: [{name: g, rules: [&a {alert: A, expr: up}, {<<: *a, alert: B}]}]"},
		{"Windows line ends", "groups:\r\n- name: g\r\n  rules:\r\n  - alert: A\r\n    expr: up\r\n"},
	}
}

// refused returns files that neither loads.
func refused() []snippet {
	return []snippet{
		{"group without a name", "groups: [{rules: []}]"},
		{"group with an empty name", `groups: [{name: "", rules: []}]`},
		{"group twice", "groups: [{name: g}, {name: g}]"},
		{"group with an unknown key", "groups: [{name: g, partial_response_strategy: warn}]"},
		{"group label __name__", "groups: [{name: g, labels: {__name__: x}}]"},
		{"group label with an empty name", `groups: [{name: g, labels: {"": x}}]`},
		{"group interval that is no duration", "groups: [{name: g, interval: 5}]"},
		{"negative interval", "groups: [{name: g, interval: -5s}]"},
		{"limit in quotes", `groups: [{name: g, limit: "5"}]`},
		{"groups as a mapping", "groups: {name: g}"},
		{"unknown key at the top", "groups: []\nrules: []"},
		{"not YAML", "groups: ["},
		{"tab", "groups:\n\t- name: g"},
		{"list at the top", "- groups: []"},
		{"neither alert nor record", rule("expr: up")},
		{"alert and record", rule("alert: A, record: b, expr: up")},
		{"no expression", rule("alert: A")},
		{"empty expression", rule(`alert: A, expr: ""`)},
		{"expression that does not parse", rule("alert: A, expr: up ==")},
		{"expression of wrong types", rule("alert: A, expr: rate(up)")},
		{"unknown function", rule("alert: A, expr: rote(up)")},
		{"experimental function", rule("alert: A, expr: 'sort_by_label(up, \"a\")'")},
		{"selector that matches all", rule("alert: A, expr: '{}'")},
		{"duplicate key", "groups: [{name: g, rules: [{alert: A, expr: up, expr: down}]}]"},
		{"unknown key", rule("alert: A, expr: up, annotation: {}")},
		{"list as labels", rule("alert: A, expr: up, labels: [a]")},
		{"mapping as a label", rule("alert: A, expr: up, labels: {a: {}}")},
		{"list as the expression", rule("alert: A, expr: [up]")},
		{"duration with a space", rule("alert: A, expr: up, for: 5 m")},
		{"duration with a fraction", rule("alert: A, expr: up, for: 1.5h")},
		{"duration of the wrong order", rule("alert: A, expr: up, for: 5s1m")},
		{"duration out of range", rule("alert: A, expr: up, for: 300y")},
		{"recording rule with for", rule("record: a, expr: up, for: 5s")},
		{"recording rule with keep_firing_for", rule("record: a, expr: up, keep_firing_for: 5s")},
		{"recording rule with annotations", rule("record: a, expr: up, annotations: {a: b}")},
		{"recording rule with braces", rule("record: 'a{b=\"c\"}', expr: up")},
		{"label __name__", rule("alert: A, expr: up, labels: {__name__: x}")},
		{"label with an empty name", rule(`alert: A, expr: up, labels: {"": x}`)},
		{"annotation with an empty name", rule(`alert: A, expr: up, annotations: {"": x}`)},
		{"unclosed template", rule("alert: A, expr: up, annotations: {a: '{{ $value'}")},
		{"unknown template function", rule("alert: A, expr: up, annotations: {a: '{{ $value | humanise }}'}")},
		{"unknown template variable", rule("alert: A, expr: up, annotations: {a: '{{ $val }}'}")},
		{"template in a label", rule("alert: A, expr: up, labels: {a: '{{ end }}'}")},
		{"merge key with a mistake", "groups: [{name: g, rules: [{<<: {alert: A, exp: up}, expr: up}]}]"},
	}
}

// stricter returns files that load into Prometheus and are rejected here on purpose.
func stricter() []snippet {
	return []snippet{
		{"limit that is no whole number", `groups: [{name: g, limit: 5.5}]`},
		{"two documents", "groups: []\n---\ngroups: []"},
		{"range vector, which no evaluation accepts", rule("alert: A, expr: 'up[5m]'")},
		{"string, which no evaluation accepts", rule(`record: a, expr: '"a"'`)},
		{"template of a group's label", "groups: [{name: g, labels: {a: '{{'}, rules: [{alert: A, expr: up}]}]"},
		{"name of a rule with a state that is no path element", rule("alert: a b, expr: up, labels: {state: ready}")},
		{"rule with a state on a comparison with bool", rule("alert: A, expr: up == bool 0, labels: {state: ready}")},
		{"reserved annotation of a rule with a state", rule("alert: A, expr: up, annotations: {mode: x}, labels: {state: ready}")},
		{"subquery of too many steps", rule("alert: A, expr: 'max_over_time(up[30d:1ms])'")},
		{"unknown state", rule("alert: A, expr: up, labels: {state: x}")},
		{"binary tag", rule("alert: A, expr: !!binary dXA=")},
	}
}

// TestParseAgainstPrometheus compares Parse with Prometheus' own parser. Files that
// Prometheus rejects are rejected here, and files that only Parse rejects are listed.
func TestParseAgainstPrometheus(t *testing.T) {
	tests := []struct {
		snippets     []snippet
		theirs, ours bool
	}{
		{accepted(), true, true},
		{refused(), false, false},
		{stricter(), true, false},
	}
	for _, tt := range tests {
		for _, s := range tt.snippets {
			t.Run(s.name, func(t *testing.T) {
				theirs, ours := prometheusAccepts(s.given), accepts(s.given)
				if theirs != tt.theirs || ours != tt.ours {
					t.Errorf("Prometheus accepts: %t, Parse accepts: %t; want %t and %t", theirs, ours, tt.theirs, tt.ours)
				}
			})
		}
	}
}

// TestTemplateFunctions compares the list of template functions with Prometheus'.
func TestTemplateFunctions(t *testing.T) {
	for _, name := range strings.Fields(`
		and call eq ge gt html index js le len lt ne not or print printf println slice urlquery
		args externalURL first graphLink humanize humanize1024 humanizeDuration humanizePercentage
		humanizeTimestamp label match now parseDuration pathPrefix query reReplaceAll safeHtml
		sortByLabel stripDomain stripPort strvalue tableLink title tmpl toDuration toJson toLower
		toTime toUpper urlQueryEscape value`) {
		given := rule("alert: A, expr: up, annotations: {a: '{{ " + name + " }}'}")
		if theirs, ours := prometheusAccepts(given), accepts(given); theirs != ours {
			t.Errorf("template function %s: Prometheus accepts %t, Parse %t", name, theirs, ours)
		}
	}
}

// TestShippedFilesAgainstPrometheus loads the shipped files with Prometheus' parser.
func TestShippedFilesAgainstPrometheus(t *testing.T) {
	for _, file := range []string{"builtin/kuryr-controller.yml", "testdata/good.yml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !prometheusAccepts(string(data)) {
			t.Errorf("Prometheus refuses %s", file)
		}
	}
}

func prometheusAccepts(text string) bool {
	_, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, promexpr.NewParser(), slog.New(slog.DiscardHandler))
	return len(errs) == 0
}

func accepts(text string) bool {
	f, errs := rules.Parse("f", []byte(text), states())
	return len(errs)+len(rules.Check([]*rules.File{f})) == 0
}
