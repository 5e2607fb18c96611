package conditions

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// invertedSense finds rules with a state that fire while all is well: in the metrics of
// Vitals 1 is good, apart from the failures.
func invertedSense(p *check.Pass, s *analysis.Subject) {
	if s.Rule.State == "" {
		return
	}
	for _, c := range alternatives(s.Rule.AST) {
		series, ok := syntax.Extreme(c.Expr).(*parser.VectorSelector)
		if !ok {
			continue
		}
		name := promexpr.MetricName(series)
		good, ok := good(p, series)
		if !ok || !promexpr.Holds(c.Op, good, c.Limit) || promexpr.Holds(c.Op, 1-good, c.Limit) {
			continue
		}
		p.InExpr(s, c.Expr, "invert the comparison: an expression describes what is wrong",
			"%s is %v while all is well, so the rule makes %s fail then, and pass while something is wrong", name, good, s.Rule.State)
	}
}

// alternatives returns the comparisons of which each alone makes an expression true. A
// comparison together with another condition may only narrow it.
func alternatives(e parser.Expr) []promexpr.Comparison {
	b, ok := promexpr.Bare(e).(*parser.BinaryExpr)
	if !ok {
		return nil
	}
	if b.Op == parser.LOR {
		return append(alternatives(b.LHS), alternatives(b.RHS)...)
	}
	if c, ok := promexpr.WithConstant(b); ok && !b.ReturnBool {
		return []promexpr.Comparison{c}
	}
	return nil
}

// good returns the good one of the values 0 and 1 of a metric of Vitals. ok is false for
// other metrics, and for those of which each value may be right, such as whether a file
// exists.
func good(p *check.Pass, s *parser.VectorSelector) (value float64, ok bool) {
	name := promexpr.MetricName(s)
	sources := p.Sources(s)
	if !analysis.Own(name) || len(sources) == 0 || slices.ContainsFunc(sources, func(m analysis.Metric) bool { return !m.Bool }) {
		return 0, false
	}
	if strings.HasSuffix(name, "_failure") {
		return 0, true
	}
	good := strings.Fields("up alive ready reported success successful connected running valid writable met ok")
	last := name[strings.LastIndex(name, "_")+1:]
	return 1, name == "vitals_state" || slices.Contains(good, last)
}
