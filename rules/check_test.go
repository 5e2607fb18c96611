package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/rules"
)

func TestCheck(t *testing.T) {
	type alert struct{ name, extra string }
	depends := func(name, on string) alert { return alert{name, "annotations: {depends_on: '" + on + "'}"} }
	tests := []struct {
		name  string
		files [][]alert
		want  []string
	}{
		{"nothing", nil, nil},
		{"same name, other labels", [][]alert{{{"A", "labels: {x: y}"}, {"A", "labels: {x: z}"}}}, nil},
		{"same name and labels in one file", [][]alert{{{"A", "labels: {x: y}"}, {"B", ""}, {"A", "labels: {x: y}"}}},
			[]string{`0.yml:6:7: group "g", rule "A": duplicate alert, expected another name or other labels than the rule at 0.yml:4`}},
		{"same name and labels in two files", [][]alert{{{"A", ""}}, {{"A", "for: 5s"}}},
			[]string{`1.yml:4:7: group "g", rule "A": duplicate alert, expected another name or other labels than the rule at 0.yml:4`}},
		{"cause in another file", [][]alert{{depends("A", "B")}, {{"B", ""}}}, nil},
		{"cause that is no rule", [][]alert{{depends("A", "B, C"), {"B", ""}}},
			[]string{`0.yml:4:58: group "g", rule "A": depends_on names no alert: "C", expected the name of an alert in one of the rule files`}},
		{"cause that is misspelt", [][]alert{{depends("QuotaLow", "KeystonDown"), {"KeystoneDown", ""}, {"KeystoneUp", ""}}},
			[]string{`0.yml:4:62: group "g", rule "QuotaLow": depends_on names no alert: "KeystonDown", did you mean "KeystoneDown"?`}},
		{"cause similar to the name of the rule", [][]alert{{depends("QuotaLow", "QuotasLow")}},
			[]string{`0.yml:4:62: group "g", rule "QuotaLow": depends_on names no alert: "QuotasLow", expected the name of an alert in one of the rule files`}},
		{"cause with several rules", [][]alert{{depends("A", "B"), {"B", "labels: {x: y}"}, {"B", ""}}}, nil},
		{"its own cause", [][]alert{{depends("A", "A")}},
			[]string{`0.yml:4:7: group "g", rule "A": depends_on forms a cycle: A -> A`}},
		{"cycle of two", [][]alert{{depends("A", "B"), depends("B", "A")}},
			[]string{`0.yml:4:7: group "g", rule "A": depends_on forms a cycle: A -> B -> A`}},
		{"cycle behind a rule, over two files", [][]alert{{depends("A", "B")}, {depends("B", "C"), depends("C", "B")}},
			[]string{`1.yml:4:7: group "g", rule "B": depends_on forms a cycle: B -> C -> B`}},
		{"cycle through the second rule of a name", [][]alert{{{"A", ""}, depends("B", "A"), {"A", "labels: {x: y}, annotations: {depends_on: B}"}}},
			[]string{`0.yml:4:7: group "g", rule "A": depends_on forms a cycle: A -> B -> A`}},
		{"two ways to one cause", [][]alert{{depends("A", "B, C"), depends("B", "D"), depends("C", "D"), {"D", ""}}}, nil},
		{"two cycles", [][]alert{{depends("A", "B, C"), depends("B", "A"), depends("C", "A")}},
			[]string{`0.yml:4:7: group "g", rule "A": depends_on forms a cycle: A -> B -> A`,
				`0.yml:4:7: group "g", rule "A": depends_on forms a cycle: A -> C -> A`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Mistakes of rules with a state are none of ordinary alerts.
			for _, state := range []string{"ready", ""} {
				var files []*rules.File
				for i, alerts := range tt.files {
					var b strings.Builder
					b.WriteString("groups:\n  - name: g\n    rules:\n")
					for _, a := range alerts {
						fmt.Fprintf(&b, "    - {alert: %s, expr: up, %s}\n", a.name, a.extra)
					}
					fmt.Fprintf(&b, "    labels: {state: '%s'}\n", state)
					f, errs := rules.Parse(fmt.Sprintf("%d.yml", i), []byte(b.String()), states())
					if len(errs) > 0 {
						t.Fatal(errs)
					}
					files = append(files, f)
				}
				got, none := rules.Check(files), rules.CheckOrdinary(files)
				if state == "" {
					got, none = none, got
				}
				if diff := cmp.Diff(tt.want, texts(got)); diff != "" || len(none) > 0 {
					t.Errorf("state %q: Check() differs (-want +got), and has %v:\n%s", state, none, diff)
				}
			}
		})
	}
}

func texts(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// A cycle through a rule of a state is a mistake, wherever it begins.
func TestCheckOfBothKinds(t *testing.T) {
	const given = `groups: [{name: g, rules: [
  {alert: Host is down, expr: up, annotations: {depends_on: B}},
  {alert: B, expr: up, labels: {state: ready}, annotations: {depends_on: Host is down}}]}]`
	f, errs := rules.Parse("f.yml", []byte(given), states())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := []string{`f.yml:2:3: group "g", rule "Host is down": depends_on forms a cycle: Host is down -> B -> Host is down`}
	if diff := cmp.Diff(want, texts(rules.Check([]*rules.File{f}))); diff != "" {
		t.Errorf("Check() differs (-want +got):\n%s", diff)
	}
}
