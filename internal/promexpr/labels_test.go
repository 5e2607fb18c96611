package promexpr_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// The labels of a result follow from those of the metrics and from the expression.
func TestResultLabels(t *testing.T) {
	of := func(metric string) []string { return strings.Split(metric, "_")[1:] } // m_a_b has a and b
	for _, tt := range []struct{ expr, open, fixed string }{
		{`m_a_b`, "a b", ""},
		{`m_a_b{a="x"} == 0`, "b", "a"},
		{`m_a_b{a=~"x|y"}`, "a b", ""},
		{`sum by (a) (m_a_b)`, "a", ""},
		{`sum without (a) (m_a_b)`, "b", ""},
		{`topk(3, m_a_b)`, "a b", ""},
		{`m_a_b - on (a) m_a`, "a", ""},
		{`m_a_b * on (a) group_left (c) m_a_c`, "a b c", ""},
		{`m_a_b unless m_a`, "a b", ""},
		{`m_a_b or m_a`, "a", ""},
		{`time() - max_over_time(m_a[5m])`, "a", ""},
		{`absent(m_a_b{a="x"})`, "", "a"},
		{`label_replace(m_a, "z", "$1", "a", "(.*)")`, "a z", ""},
		{`vector(1)`, "", ""},
	} {
		found := promexpr.ResultLabels(parse(t, tt.expr), of)
		with := func(is promexpr.Freedom) string {
			names := slices.Sorted(maps.Keys(found))
			return strings.Join(slices.DeleteFunc(names, func(name string) bool { return found[name] != is }), " ")
		}
		if open, fixed := with(promexpr.Open), with(promexpr.Fixed); open != tt.open || fixed != tt.fixed {
			t.Errorf("ResultLabels(%s) = open %q, fixed %q, want %q and %q", tt.expr, open, fixed, tt.open, tt.fixed)
		}
	}
}
