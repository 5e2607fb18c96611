package syntax_test

import (
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

func selector(t *testing.T, text string) *parser.VectorSelector {
	t.Helper()
	e, err := promexpr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e.(*parser.VectorSelector)
}

func TestMatchesAll(t *testing.T) {
	for expr, want := range map[string]bool{
		".*": true, "(.*)": true, "^.*$": true, ".*|a": true, "a|.*": true, ".*.*": true,
		".+": false, "a.*": false, "": false, "a": false, "[": false, "(a|b)*": false,
	} {
		if got := syntax.MatchesAll(expr); got != want {
			t.Errorf("MatchesAll(%s) = %t, want %t", expr, got, want)
		}
	}
}

func TestContradiction(t *testing.T) {
	for _, c := range []struct{ selector, want string }{
		{`up{a="1"}`, ""},
		{`up{a="1",b="2"}`, ""},
		{`up{a="1",a=~"1|2"}`, ""},
		{`up{a="",a!~".+"}`, ""},
		{`up{a="1",a="2"}`, `no series has both a="1" and a="2"`},
		{`up{a="1",a!="1"}`, `no series has both a="1" and a!="1"`},
		{`up{a=~"1|2",a=~"3|4"}`, `no series has both a=~"1|2" and a=~"3|4"`},
		{`up{a=~"x.*",a!~"x.*"}`, `no series has both a=~"x.*" and a!~"x.*"`},
		{`up{a!~".*"}`, `a!~".*" excludes every series`},
	} {
		got, cure := syntax.Contradiction(selector(t, c.selector).LabelMatchers)
		if got != c.want || (cure == "") != (c.want == "") {
			t.Errorf("Contradiction(%s) = %q, %q, want %q and a cure for it", c.selector, got, cure, c.want)
		}
	}
}
