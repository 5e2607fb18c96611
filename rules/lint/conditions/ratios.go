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

// sumOfRatios finds sums of ratios, and averages of averages. The ratio of the whole is the
// ratio of two sums.
func sumOfRatios(p *check.Pass, s *analysis.Subject) {
	syntax.Nodes(s.Rule.AST, func(n parser.Node) {
		a, ok := n.(*parser.AggregateExpr)
		if !ok || a.Op != parser.SUM && a.Op != parser.AVG {
			return
		}
		ratio := ratioOf(a.Expr)
		if ratio == nil || a.Op == parser.AVG && !ofHistogram(ratio) || grouped(a, ratio) {
			return
		}
		op := a.Op.String()
		f := p.InExpr(s, a, "divide the sums: sum(a) / sum(b), with the same by or without in both",
			"the %s of %s over several series is not the ratio of the whole: each series counts alike, however large it is", op, syntax.Short(ratio))
		if len(a.Grouping) > 0 && !ofHistogram(ratio) {
			f.Severity = check.Info // each group may have one series
		}
	})
}

// ratioOf returns the division of two vectors whose results an expression scales, or nil. A
// division by one common value is no ratio of each series.
func ratioOf(e parser.Expr) *parser.BinaryExpr {
	b, ok := promexpr.Bare(e).(*parser.BinaryExpr)
	if !ok || b.Op != parser.MUL && b.Op != parser.DIV {
		return nil
	}
	if _, ok := promexpr.Constant(b.LHS); ok && b.Op == parser.MUL {
		return ratioOf(b.RHS)
	}
	if _, ok := promexpr.Constant(b.RHS); ok {
		return ratioOf(b.LHS)
	}
	m := b.VectorMatching
	if b.Op == parser.MUL || m == nil || m.Card != parser.CardOneToOne || syntax.AnyLabels(b) {
		return nil
	}
	return b
}

// ofHistogram reports whether a ratio is the average of a histogram or a summary.
func ofHistogram(ratio *parser.BinaryExpr) bool {
	name := func(e parser.Expr, suffix string) (string, bool) {
		all := syntax.Selectors(e)
		if len(all) != 1 {
			return "", false
		}
		return strings.CutSuffix(promexpr.MetricName(all[0]), suffix)
	}
	sum, ok := name(ratio.LHS, "_sum")
	count, also := name(ratio.RHS, "_count")
	return ok && also && sum == count
}

// grouped reports whether a side of a ratio has at most one series for each group of the
// aggregation: it is aggregated by some of the same labels.
func grouped(outer *parser.AggregateExpr, ratio *parser.BinaryExpr) bool {
	return slices.ContainsFunc([]parser.Expr{ratio.LHS, ratio.RHS}, func(side parser.Expr) bool {
		a, ok := promexpr.Bare(side).(*parser.AggregateExpr)
		return ok && !a.Without && !outer.Without && !syntax.KeepsLabels(a.Op) &&
			!slices.ContainsFunc(a.Grouping, func(label string) bool { return !slices.Contains(outer.Grouping, label) })
	})
}
