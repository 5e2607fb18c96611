package promexpr

import (
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// FuzzParse parses expressions of rules, also those with computed durations. What is
// printed of one, as explain does it, is the same expression.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`sum by (a) (rate(b{c="d"}[5m * 2])) > 1`, `a offset (1h - 30m)`, `max_over_time(a[1h:step()])`, `a @ start() unless ignoring (b) c`, `{"a b", "c d"="e"}`, `1 + -Inf`, `"x"`, `a[5m`, `((((`, `histogram_quantile(0.9, a)`,
		`a[2m / 0]`, `a[1d ^ 1000]`, `a offset -(1 ^ 99 * 1d)`, `count_values("\xff", a)`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		expr, err := Parse(text)
		if err != nil {
			return
		}
		for _, n := range timed(expr) {
			switch n := n.(type) {
			case *parser.MatrixSelector:
				if n.Range <= 0 {
					t.Errorf("Parse(%q) has a range of %s, want one above 0", text, n.Range)
				}
			case *parser.SubqueryExpr:
				if n.Range <= 0 || n.Step < 0 {
					t.Errorf("Parse(%q) has a subquery of %s in steps of %s", text, n.Range, n.Step)
				}
			}
		}
		printed := expr.String()
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("Parse(%q) is printed as %q: %v", text, printed, err)
		}
		if twice := again.String(); twice != printed {
			t.Errorf("Parse(%q) is printed as %q, and that as %q", text, printed, twice)
		}
		Constant(Bare(expr))
	})
}
