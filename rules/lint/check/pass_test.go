package check_test

import (
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// A pass has each finding once, with the code, the severity and the place of its check.
func TestPassReports(t *testing.T) {
	const text = `groups:
  - name: g
    rules:
      - alert: A
        expr: up == 0 and on () down{job="x"}
        for: 1m
`
	f, mistakes := rules.Parse("f.yml", []byte(text), nil)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	p := check.New(nil, []*rules.File{f}, check.Options{})
	p.Current = check.OfRule("V999", "tested", check.Warning, "A test.", func(p *check.Pass, s *analysis.Subject) {
		p.At(s, "for", "cure", "%s is reported", s.Rule.For).Severity = check.Error
		p.At(s, "for", "cure", "%s is reported", s.Rule.For) // the same one
		parser.Inspect(s.Rule.AST, func(n parser.Node, _ []parser.Node) error {
			if v, ok := n.(*parser.VectorSelector); ok && v.Name == "down" {
				p.InExpr(s, v, "cure", "a selector")
				p.AtWord(s, v, `(job)=`, "cure", "a word")
			}
			return nil
		})
		p.Report(check.Finding{File: "other.yml", Line: 9, Text: "elsewhere", Cure: "cure"})
	})
	p.EachRule(p.Current.Rule)
	const where = `group "g", rule "A"`
	want := []check.Finding{
		{Code: "V999", Name: "tested", Severity: check.Error, File: "f.yml", Line: 6, Col: 14, Where: where, Text: "1m0s is reported", Cure: "cure"},
		{Code: "V999", Name: "tested", Severity: check.Warning, File: "f.yml", Line: 5, Col: 33, Where: where, Text: "a selector", Cure: "cure"},
		{Code: "V999", Name: "tested", Severity: check.Warning, File: "f.yml", Line: 5, Col: 38, Where: where, Text: "a word", Cure: "cure"},
		{Code: "V999", Name: "tested", Severity: check.Warning, File: "other.yml", Line: 9, Text: "elsewhere", Cure: "cure"},
	}
	if len(p.Findings) != len(want) {
		t.Fatalf("%d findings, want %d: %+v", len(p.Findings), len(want), p.Findings)
	}
	for i, f := range p.Findings {
		if f.Finding != want[i] {
			t.Errorf("finding %d = %+v, want %+v", i, f.Finding, want[i])
		}
	}
}

func TestSuggest(t *testing.T) {
	many := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"}
	for _, c := range []struct {
		name, got string
		known     []string
		want      string
	}{
		{"a similar name", "proces", []string{"process", "port"}, `did you mean "process"?`},
		{"one behind the prefix", "vitals_proces_up", []string{"vitals_process_up", "vitals_file_exists"}, `did you mean "vitals_process_up"?`},
		{"the prefix alone is no similarity", "vitals_x", []string{"vitals_yz"}, "use vitals_yz"},
		{"none exists", "x", []string{""}, "remove it: none exists"},
		{"a few", "other", []string{"b", "a", "a"}, "use one of a, b"},
		{"many", "other", many, "use one of a, b, c, d, e, f, g, h, i, j, k, l and 2 more"},
	} {
		if got := check.Suggest(c.got, c.known); got != c.want {
			t.Errorf("%s: Suggest(%s) = %q, want %q", c.name, c.got, got, c.want)
		}
	}
}
