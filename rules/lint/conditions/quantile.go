package conditions

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// quantileWithoutBuckets finds quantiles of classic histograms whose buckets are gone: an
// aggregation or an operator dropped the label le. Native histograms have no such label.
func quantileWithoutBuckets(p *check.Pass, s *analysis.Subject) {
	syntax.Nodes(s.Rule.AST, func(n parser.Node) {
		call, ok := n.(*parser.Call)
		if !ok || !slices.Contains(strings.Fields("histogram_quantile histogram_fraction histogram_quantiles"), call.Func.Name) {
			return
		}
		i := slices.IndexFunc(call.Args, func(e parser.Expr) bool { return e.Type() == parser.ValueTypeVector })
		if i < 0 || !p.Shape(call.Args[i]).Lacks(model.BucketLabel) || !ofBuckets(p, call.Args[i], nil) {
			return
		}
		p.InExpr(s, call.Args[i], "keep the label le, as in sum by (le, ...) (rate(..._bucket[5m])), or as in without (...) with other labels",
			"%s needs the buckets of the histogram, which differ in the label le, and no series here has that label: it returns nothing", call.Func.Name)
	})
}

// ofBuckets reports whether all selectors of an expression select buckets of classic
// histograms, by their names or through recording rules. via names those on the way.
func ofBuckets(p *check.Pass, e parser.Expr, via []string) bool {
	all := syntax.Selectors(e)
	return len(all) > 0 && !slices.ContainsFunc(all, func(n *parser.VectorSelector) bool {
		name := promexpr.MetricName(n)
		if strings.HasSuffix(name, "_bucket") || strings.Contains(name, "_bucket:") {
			return false
		}
		other := func(rec *analysis.Subject) bool {
			return rec.Rule.AST == nil || !ofBuckets(p, rec.Rule.AST, append(via, name))
		}
		return len(p.Recorded[name]) == 0 || slices.Contains(via, name) || slices.ContainsFunc(p.Recorded[name], other)
	})
}
