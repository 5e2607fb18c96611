package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// Check reports nothing about invalid rules, and nothing that could be a consequence of
// them.
func TestPartial(t *testing.T) {
	tests := []struct {
		name, given string
		want        []string
	}{
		{"a rule that may test absence", `groups: [{name: g, rules: [
  {alert: Gone, expr: "absent(", labels: {state: ready}},
  {alert: Dead, expr: vitals_component_alive == 0, for: 1m, labels: {state: ready}, annotations: {summary: x}}]}]`, nil},
		{"one whose state is not known", `groups: [{name: g, rules: [
  {alert: Gone, expr: absent(up), lables: {state: ready}},
  {alert: Dead, expr: vitals_component_alive == 0, for: 1m, labels: {state: ready}, annotations: {summary: x}}]}]`, nil},
		{"one of another state", `groups: [{name: g, rules: [
  {alert: Gone, expr: "absent(", labels: {state: alive}},
  {alert: Dead, expr: vitals_component_alive == 0, for: 1m, labels: {state: ready}, annotations: {summary: x}}]}]`, []string{"3:23 V006"}},
		{"a rule that records", `groups: [{name: g, rules: [
  {record: "vitals_x", expr: "sum by (a) ("},
  {record: "vitals_x", expr: vitals_process_up},
  {alert: Dead, expr: 'vitals_x{a="b"} == 0', for: 1m, labels: {state: ready}, annotations: {summary: x, no_data: fail}}]}]`, []string{"3:12 V045 warning"}},
		{"a rule that only warns", `groups: [{name: g, rules: [
  {alert: Down, expr: "up ==", labels: {state: ready}},
  {alert: Dead, expr: vitals_process_up == 0, for: 1m, labels: {state: ready, severity: warning}}]}]`, []string{"3:3 V021"}},
		{"comments", `# vitals:accept-file V016 of the first rule
groups: [{name: g, rules: [
  # vitals:accept V022 of the rule
  {alert: Down, expr: "up =="}]}]`, nil},
		{"no YAML from some line on", "groups: [{name: g, rules: [{alert: Dead, expr: vitals_process_up == 0, for: 1m, labels: {state: alive}}]}]\n---\n[", []string{"1:28 V021"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, mistakes := rules.ParseAll("f.yml", []byte(tt.given), []string{"ready", "alive", "started"})
			if len(mistakes) == 0 {
				t.Fatal("ParseAll() = no mistake, want one")
			}
			var got []string
			for _, f := range lint.Check(files, lint.Options{Vocabulary: vocabulary(nil), States: []string{"ready", "alive", "started"}, Partial: true}) {
				got = append(got, finding(f)[len("f.yml:"):])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A mistake in a file does not prevent the checks of the rest.
func TestPartialOfAllMistakes(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.bad.yml")
	if err != nil || len(files) < 30 {
		t.Fatalf("Glob() = %d files, %v, want those of all mistakes", len(files), err)
	}
	const more = "\n---\ngroups: [{name: beside, rules: [{alert: Beside, expr: vitals_process_up == 0, for: 1m, labels: {state: alive}}]}]\n"
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		documents, mistakes := rules.ParseAll(name, append(text, more...), []string{"ready", "alive", "started"})
		if len(mistakes) == 0 {
			continue // it has a second document
		}
		found := lint.Check(documents, lint.Options{Vocabulary: vocabulary(nil), States: []string{"ready", "alive", "started"}, Partial: true})
		for _, f := range found {
			if f.Where == "" && f.Code != "V025" {
				t.Errorf("%s: %+v, want a finding in a rule", name, f)
			}
		}
	}
}
