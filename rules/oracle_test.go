package rules_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

// verdict is what becomes of a file in Prometheus and here.
type verdict int

const (
	accepted verdict = iota
	refused
	// stricter files load into Prometheus and are refused here, on purpose.
	stricter
)

// rule wraps one rule, in flow style, into a file.
func rule(body string) string {
	return "groups: [{name: g, rules: [{" + body + "}]}]"
}

// TestParseAgainstPrometheus holds Parse against Prometheus' own parser: what that
// one refuses is refused here, and what is refused beyond it is listed.
func TestParseAgainstPrometheus(t *testing.T) {
	tests := []struct {
		name, given string
		want        verdict
	}{
		{"no groups", "groups: []", accepted},
		{"empty mapping", "{}", accepted},
		{"null groups", "groups:", accepted},
		{"group without rules", "groups: [{name: g}]", accepted},
		{"group with everything", "groups: [{name: g, interval: 1m, limit: 3, query_offset: 5s, labels: {a: b}, rules: []}]", accepted},
		{"group without a name", "groups: [{rules: []}]", refused},
		{"group with an empty name", `groups: [{name: "", rules: []}]`, refused},
		{"group twice", "groups: [{name: g}, {name: g}]", refused},
		{"group with an unknown key", "groups: [{name: g, partial_response_strategy: warn}]", refused},
		{"group label __name__", "groups: [{name: g, labels: {__name__: x}}]", refused},
		{"group label with an empty name", `groups: [{name: g, labels: {"": x}}]`, refused},
		{"group interval that is no duration", "groups: [{name: g, interval: 5}]", refused},
		{"negative interval", "groups: [{name: g, interval: -5s}]", refused},
		{"limit in quotes", `groups: [{name: g, limit: "5"}]`, refused},
		{"limit as a float", `groups: [{name: g, limit: 5.0}]`, accepted},
		{"groups as a mapping", "groups: {name: g}", refused},
		{"unknown key at the top", "groups: []\nrules: []", refused},
		{"not YAML", "groups: [", refused},
		{"tab", "groups:\n\t- name: g", refused},
		{"list at the top", "- groups: []", refused},

		{"alert", rule("alert: A, expr: up == 0"), accepted},
		{"alert with everything", rule("alert: A, expr: up == 0, for: 1h30m, keep_firing_for: 5m, labels: {a: b}, annotations: {c: d}"), accepted},
		{"recording rule", rule("record: 'a:b', expr: sum(up), labels: {x: y}"), accepted},
		{"number as the expression", rule("alert: A, expr: 1"), accepted},
		{"number as a label", rule("alert: A, expr: 1, labels: {a: 1, b: true}"), accepted},
		{"empty label", rule("alert: A, expr: 1, labels: {a: }"), accepted},
		{"label in UTF-8", rule(`alert: A, expr: 1, labels: {"größe.x": y}`), accepted},
		{"annotation in UTF-8", rule(`alert: A, expr: 1, annotations: {"ins-tance": y}`), accepted},
		{"metric name in UTF-8", rule(`record: "größe.x", expr: 1`), accepted},
		{"empty durations", rule("alert: A, expr: 1, for: , keep_firing_for: "), accepted},
		{"zero duration", rule("alert: A, expr: 1, for: 0"), accepted},
		{"neither alert nor record", rule("expr: up"), refused},
		{"alert and record", rule("alert: A, record: b, expr: up"), refused},
		{"no expression", rule("alert: A"), refused},
		{"empty expression", rule(`alert: A, expr: ""`), refused},
		{"expression that does not parse", rule("alert: A, expr: up =="), refused},
		{"expression of wrong types", rule("alert: A, expr: rate(up)"), refused},
		{"unknown function", rule("alert: A, expr: rote(up)"), refused},
		{"experimental function", rule("alert: A, expr: 'sort_by_label(up, \"a\")'"), refused},
		{"selector that matches all", rule("alert: A, expr: '{}'"), refused},
		{"duplicate key", "groups: [{name: g, rules: [{alert: A, expr: up, expr: down}]}]", refused},
		{"unknown key", rule("alert: A, expr: up, annotation: {}"), refused},
		{"list as labels", rule("alert: A, expr: up, labels: [a]"), refused},
		{"mapping as a label", rule("alert: A, expr: up, labels: {a: {}}"), refused},
		{"list as the expression", rule("alert: A, expr: [up]"), refused},
		{"duration with a space", rule("alert: A, expr: up, for: 5 m"), refused},
		{"duration with a fraction", rule("alert: A, expr: up, for: 1.5h"), refused},
		{"duration of the wrong order", rule("alert: A, expr: up, for: 5s1m"), refused},
		{"duration out of range", rule("alert: A, expr: up, for: 300y"), refused},
		{"recording rule with for", rule("record: a, expr: up, for: 5s"), refused},
		{"recording rule with zero for", rule("record: a, expr: up, for: 0s"), accepted},
		{"recording rule with keep_firing_for", rule("record: a, expr: up, keep_firing_for: 5s"), refused},
		{"recording rule with annotations", rule("record: a, expr: up, annotations: {a: b}"), refused},
		{"recording rule with empty annotations", rule("record: a, expr: up, annotations: {}"), accepted},
		{"recording rule with braces", rule("record: 'a{b=\"c\"}', expr: up"), refused},
		{"recording rule with a broken template", rule("record: a, expr: up, labels: {a: '{{'}"), accepted},
		{"label __name__", rule("alert: A, expr: up, labels: {__name__: x}"), refused},
		{"label with an empty name", rule(`alert: A, expr: up, labels: {"": x}`), refused},
		{"annotation with an empty name", rule(`alert: A, expr: up, annotations: {"": x}`), refused},
		{"template", rule("alert: A, expr: up, annotations: {a: '{{ $labels.x }} {{ $value | humanize1024 }} {{ .ExternalURL }}'}"), accepted},
		{"template with control flow", rule(`alert: A, expr: up, annotations: {a: '{{ range query "up" }}{{ .Labels.job }}{{ break }}{{ end }}'}`), accepted},
		{"template that defines", rule(`alert: A, expr: up, annotations: {a: '{{ define "x" }}y{{ end }}{{ template "x" }}'}`), accepted},
		{"unclosed template", rule("alert: A, expr: up, annotations: {a: '{{ $value'}"), refused},
		{"unknown template function", rule("alert: A, expr: up, annotations: {a: '{{ $value | humanise }}'}"), refused},
		{"unknown template variable", rule("alert: A, expr: up, annotations: {a: '{{ $val }}'}"), refused},
		{"template in a label", rule("alert: A, expr: up, labels: {a: '{{ end }}'}"), refused},
		{"alias", "groups: [{name: g, rules: [{alert: A, expr: &e up}, {alert: B, expr: *e}]}]", accepted},
		{"merge key", "groups: [{name: g, rules: [&a {alert: A, expr: up}, {<<: *a, alert: B}]}]", accepted},
		{"merge key with a mistake", "groups: [{name: g, rules: [{<<: {alert: A, exp: up}, expr: up}]}]", refused},
		{"Windows line ends", "groups:\r\n- name: g\r\n  rules:\r\n  - alert: A\r\n    expr: up\r\n", accepted},

		{"limit that is no whole number", `groups: [{name: g, limit: 5.5}]`, stricter},
		{"two documents", "groups: []\n---\ngroups: []", stricter},
		{"empty file", "", stricter},
		{"only a comment", "# nothing", stricter},
		{"alert name that is no path element", rule("alert: a b, expr: up"), stricter},
		{"range vector, which no evaluation accepts", rule("alert: A, expr: 'up[5m]'"), stricter},
		{"string, which no evaluation accepts", rule(`record: a, expr: '"a"'`), stricter},
		{"alert on a comparison with bool", rule("alert: A, expr: up == bool 0"), stricter},
		{"template of a group's label", "groups: [{name: g, labels: {a: '{{'}, rules: [{alert: A, expr: up}]}]", stricter},
		{"unknown state", rule("alert: A, expr: up, labels: {state: x}"), stricter},
		{"reserved annotation", rule("alert: A, expr: up, annotations: {mode: x}"), stricter},
		{"binary tag", rule("alert: A, expr: !!binary dXA="), stricter},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			theirs, ours := prometheusAccepts(tt.given), accepts(tt.given)
			if wantTheirs, wantOurs := tt.want != refused, tt.want == accepted; theirs != wantTheirs || ours != wantOurs {
				t.Errorf("Prometheus accepts: %t, Parse accepts: %t; want %t and %t", theirs, ours, wantTheirs, wantOurs)
			}
		})
	}
}

// TestTemplateFunctions holds the list of template functions against Prometheus'.
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

// TestShippedFilesAgainstPrometheus loads what is shipped into Prometheus' parser.
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
	_, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	return len(errs) == 0
}

func accepts(text string) bool {
	_, errs := rules.Parse("f", []byte(text), states())
	return len(errs) == 0
}
