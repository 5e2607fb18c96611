package rules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

// inObject wraps groups, in flow style, into a named object.
func inObject(name, groups string) string {
	return fmt.Sprintf("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: %s}\nspec: {groups: %s}\n", name, groups)
}

// Each document is a separate file. Its rules have their places in the whole file.
func TestParseAll(t *testing.T) {
	const group = "[{name: g, rules: [{alert: A, expr: up == 0}]}]"
	item := strings.ReplaceAll(strings.TrimSpace(inObject("one", group)), "\n", "\n  ")
	tests := []struct{ name, given, want string }{
		{"one file", "groups: " + group, ` 1:28 1:45`},
		{"one file behind a line", "---\ngroups: " + group + "\n---\n", ` 2:28 2:45`},
		{"one file that Prometheus does not see", "---\n---\ngroups: " + group, ` behind 3:28 3:45`},
		{"one object", inObject("a", group), ` 4:35 4:52`},
		{"several files", "groups: " + group + "\n---\ngroups: " + group, `document 1 1:28 1:45; document 2 behind 3:28 3:45`},
		{"several objects", inObject("a", group) + "---\n---\n" + inObject("a", group), `PrometheusRule "a" 4:35 4:52; PrometheusRule "a" 10:35 10:52`},
		{"an object without a name", inObject("", group) + "---\ngroups: []", `PrometheusRule 4:35 4:52; document 2 behind`},
		{"a list", "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- " + item + "\n- " + item, `PrometheusRule "one" 8:37 8:54; PrometheusRule "one" 12:37 12:54`},
		{"a list of its own kind", "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRuleList\nitems:\n- " + item, ` 7:37 7:54`},
		{"an empty list", "apiVersion: v1\nkind: List\nitems: []", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, errs := rules.ParseAll("f.yml", []byte(tt.given), states())
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			var got []string
			for _, f := range files {
				line := f.Part
				if f.Behind {
					line += " behind"
				}
				for _, g := range f.Groups {
					r := &g.Rules[0]
					l, c := f.PlaceInExpr(r, r.AST.(*parser.BinaryExpr).LHS.PositionRange().Start)
					line += fmt.Sprintf(" %d:%d %d:%d", r.Line, r.Col, l, c)
					if f.Name != "f.yml" || string(f.Text()) != tt.given || !f.Has(r.Line) || f.Mistaken(r) {
						t.Errorf("file %q with %d bytes and line %d = %v, want all of f.yml", f.Name, len(f.Text()), r.Line, f.Has(r.Line))
					}
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("ParseAll() differs (-want +got):\n%s", diff)
			}
		})
	}
}

// Mistakes name the document, in the order of the file. Valid rules are parsed.
func TestParseAllMistakes(t *testing.T) {
	const group = "[{name: g, rules: [{alert: A, expr: up == 0}]}]"
	tests := []struct {
		name, given string
		want        []string
		rules       int
	}{
		{"in a second document", "groups: " + group + "\n---\ngroups: [{name: g, rules: [{alert: A}]}, {name: g}]", []string{
			`3:28: document 2, group "g", rule "A": expected an expression in expr, got none`,
			`3:49: document 2, group "g", name: duplicate group name, expected it once in a file`}, 2},
		{"another kind", inObject("a", group) + "---\nkind: ConfigMap\napiVersion: v1", []string{
			`6:1: ConfigMap, spec: expected a spec with groups, got none`,
			`6:7: ConfigMap, kind: expected "PrometheusRule", got "ConfigMap"`,
			`7:13: ConfigMap, apiVersion: expected "monitoring.coreos.com/v1", got "v1"`}, 1},
		{"no YAML from some line on", "groups: " + group + "\n---\ngroups: [\n", []string{
			`4:1: not valid YAML: did not find expected node content`}, 1},
		{"a list", "apiVersion: v2\nkind: List\nmore: 1", []string{
			`1:1: expected items, got none`, `1:13: apiVersion: expected "v1", got "v2"`,
			`3:1: unknown key "more", expected one of apiVersion, kind, metadata, items`}, 0},
		{"items that are no list", "apiVersion: v1\nkind: PrometheusRuleList\nitems: {}", []string{
			`1:13: apiVersion: expected "monitoring.coreos.com/v1", got "v1"`, `3:8: items: expected a list, got a mapping`}, 0},
		{"an item", "apiVersion: v1\nkind: List\nitems: [7]", []string{`3:9: expected a mapping, got "7"`}, 0},
		{"nothing", "---\n---\n", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, errs := rules.ParseAll("f.yml", []byte(tt.given), states())
			var got []string
			for _, e := range errs {
				got = append(got, strings.TrimPrefix(e.Error(), "f.yml:"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseAll() differs (-want +got):\n%s", diff)
			}
			n := 0
			for _, f := range files {
				for _, g := range f.Groups {
					n += len(g.Rules)
				}
				if string(f.Text()) != tt.given {
					t.Errorf("Text() = %q, want the file", f.Text())
				}
			}
			if n != tt.rules {
				t.Errorf("ParseAll() = %d rules, want %d", n, tt.rules)
			}
		})
	}
}

// Prometheus reads only the first document of a file.
func TestPrometheusReadsTheFirstDocument(t *testing.T) {
	if !prometheusAccepts("groups: []\n---\nno: rules\n") || prometheusAccepts("no: rules\n---\ngroups: []\n") {
		t.Error("Prometheus reads another document than the first one")
	}
}

// A rule is invalid if it, its parents or the labels of its group have a mistake.
func TestMistaken(t *testing.T) {
	given := `groups:
  - name: g
    rules: [{alert: Good, expr: up}, {alert: Bad, expr: up ==}, {alert: Good, exp: up}, {alert: Good2, expr: up, labels: {state: none}}]
  - name: g
    rules: [{alert: Good3, expr: up}]
  - name: labels
    labels: {state: none}
    rules: [{alert: Bad, expr: up}]
  - name: key
    lables: {}
    rules: [{alert: Bad, expr: up}]
`
	f, _ := rules.Parse("f.yml", []byte(given), states())
	var got []string
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			if !f.Mistaken(&r) {
				got = append(got, r.Name())
			}
		}
	}
	if diff := cmp.Diff([]string{"Good", "Good3"}, got); diff != "" {
		t.Errorf("the rules without mistakes differ (-want +got):\n%s", diff)
	}
}

// Generated objects are parsed. Their alerts share names, which is a mistake if they are
// loaded together.
func TestGeneratedObjects(t *testing.T) {
	const name = "../dashboards/alerts/prometheusrule.yaml"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files, errs := rules.ParseAll(name, data, states())
	if len(errs) > 0 || len(files) < 5 {
		t.Fatalf("ParseAll() = %d objects, %v, want those of all of Kuryr's files", len(files), errs)
	}
	together := rules.Check(files)
	if len(together) == 0 || !strings.Contains(together[0].Error(), `: PrometheusRule "vitals-kuryr-`) {
		t.Errorf("Check() = %v, want alerts of one name in several objects", together)
	}
}
