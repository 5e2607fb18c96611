package rules_test

import (
	"fmt"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

func TestPlaces(t *testing.T) {
	text := `groups:
  - name: g
    rules:
      - alert: A
        expr: |
          up{job="x"}
            == 0
        labels: {state: ready, severity: warning, "a.b": c}
        annotations:
          summary: >-
            Text.
    labels: {team: net}
`
	f, errs := rules.Parse("f.yml", []byte(text), states())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	g := &f.Groups[0]
	r := &g.Rules[0]
	at := func(line, col int) string { return fmt.Sprintf("%d:%d", line, col) }
	selector := r.AST.(*parser.BinaryExpr).RHS.PositionRange()
	for _, c := range []struct{ name, got, want string }{
		{"a group", at(g.Line, g.Col), "2:5"},
		{"a label", at(f.Place(r, "labels.severity")), "8:42"},
		{"a key that is not there", at(f.Place(r, "annotations.description")), "4:9"},
		{"a part of the expression", at(f.PlaceInExpr(r, selector.Start)), "7:16"},
		{"the key of a label", at(f.PlaceOfKey(r, "labels", "severity")), "8:32"},
		{"the key of a label with a dot", at(f.PlaceOfKey(r, "labels", "a.b")), "8:51"},
		{"the key of an annotation", at(f.PlaceOfKey(r, "annotations", "summary")), "10:11"},
		{"the key of a group's label", at(f.PlaceOfKey(r, "labels", "team")), "12:14"},
		{"the key of a label that is not there", at(f.PlaceOfKey(r, "labels", "none")), "4:9"},
		{"a key in a file that was made by hand", at((&rules.File{}).PlaceOfKey(&rules.Rule{Line: 3, Col: 4}, "labels", "x")), "3:4"},
		{"in a file that was made by hand", at((&rules.File{}).Place(&rules.Rule{Line: 3, Col: 4}, "expr")), "3:4"},
	} {
		if c.got != c.want {
			t.Errorf("%s is at %s, want %s", c.name, c.got, c.want)
		}
	}
	if string(f.Text()) != text {
		t.Errorf("Text() = %q, want the file", f.Text())
	}
}
