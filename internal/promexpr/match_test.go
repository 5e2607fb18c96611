package promexpr_test

import (
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

func TestCanMatch(t *testing.T) {
	values := map[string][]string{"a": {"1", "2"}, "b": {"", "3"}, "any": nil, "none": {}}
	for _, c := range []struct {
		selector     string
		closed, open bool
	}{
		{`up`, true, true},
		{`up{a="1"}`, true, true},
		{`up{a="1",a!="2"}`, true, true},
		{`up{a=~"2|5"}`, true, true},
		{`up{a="5"}`, false, false},
		{`up{a=""}`, false, false},
		{`up{b=""}`, true, true},
		{`up{any="x"}`, true, true},
		{`up{none=""}`, false, false},
		{`up{other="x"}`, false, true},
		{`up{other=""}`, true, true},
		{`up{a="1",other="x"}`, false, true},
	} {
		e, err := promexpr.Parse(c.selector)
		if err != nil {
			t.Fatal(err)
		}
		matchers := e.(*parser.VectorSelector).LabelMatchers
		if closed, open := promexpr.CanMatch(matchers, values, false), promexpr.CanMatch(matchers, values, true); closed != c.closed || open != c.open {
			t.Errorf("CanMatch(%s) = %t, and %t with other labels, want %t and %t", c.selector, closed, open, c.closed, c.open)
		}
	}
}
