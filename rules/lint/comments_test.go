package lint_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/rules/lint"
)

// Comments returns the comments that accept findings, each with its rule.
func TestComments(t *testing.T) {
	f := parse(t, "f.yml", `# vitals:accept-file V002 one replica
groups:
- name: g
  rules:
  # vitals:accept V008,V006: the number is the patience
  - alert: A
    expr: up == 0 # vitals:accept V021 it is never shown
  - alert: B
    expr: up == 0 # vitals:accept V021
# vitals:accepted V021 no
`)
	var got []string
	for _, c := range lint.Comments(f) {
		of := "file"
		if c.Rule != nil {
			of = c.Rule.Alert
		}
		got = append(got, fmt.Sprintf("%s %v %s", of, c.Rule == &f.Groups[0].Rules[0], c.Text))
	}
	want := []string{
		"file false # vitals:accept-file V002 one replica",
		"A true # vitals:accept V008,V006 the number is the patience",
		"A true # vitals:accept V021 it is never shown",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Comments() differ (-want +got):\n%s", diff)
	}
}
