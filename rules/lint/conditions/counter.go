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

// rateOfGauge finds range functions that are applied to the wrong type of metric. rate
// treats a decreasing gauge as a counter reset, and delta treats a counter reset as a
// decrease.
func rateOfGauge(p *check.Pass, s *analysis.Subject) {
	syntax.Nodes(s.Rule.AST, func(n parser.Node) {
		call, selector := rangeCall(n)
		if selector == nil {
			return
		}
		name := call.Func.Name
		switch t := typeOf(p, selector); {
		case name == "resets" && strings.Contains(promexpr.MetricName(selector), "uptime"): // an uptime decreases when its process restarts
		case t == model.MetricTypeGauge && forCounters(name):
			p.InExpr(s, call, "use delta, deriv or changes, or compare the value itself",
				"%s treats every decrease as a counter reset, and %s is a gauge, which can decrease", name, promexpr.MetricName(selector))
		case t == model.MetricTypeCounter && forGauges(name):
			p.InExpr(s, call, "use rate or increase",
				"%s does not handle resets, and the counter %s restarts at 0 with its process", name, promexpr.MetricName(selector)).Severity = check.Warning
		}
	})
}

// rangeCall returns the function and the selector of a call such as rate(x[5m]), or nil.
func rangeCall(n parser.Node) (*parser.Call, *parser.VectorSelector) {
	call, ok := n.(*parser.Call)
	if !ok {
		return nil, nil
	}
	for _, arg := range call.Args {
		if m, ok := promexpr.Bare(arg).(*parser.MatrixSelector); ok {
			selector, _ := m.VectorSelector.(*parser.VectorSelector)
			return call, selector
		}
	}
	return call, nil
}

func forCounters(function string) bool {
	return slices.Contains([]string{"rate", "increase", "irate", "resets"}, function)
}

func forGauges(function string) bool {
	return slices.Contains([]string{"delta", "idelta", "deriv", "predict_linear", "double_exponential_smoothing"}, function)
}

// typeOf returns the type of all metrics that a selector can match. It is empty if they
// differ or if a type is unknown.
func typeOf(p *check.Pass, s *parser.VectorSelector) model.MetricType {
	var t model.MetricType
	for i, m := range p.Sources(s) {
		if i > 0 && m.Type != t {
			return ""
		}
		t = m.Type
	}
	if len(p.Recorded[promexpr.MetricName(s)]) > 0 {
		return ""
	}
	return t
}

// counterCompared finds comparisons of a counter with a number. Counters of other programs
// are recognised by their names.
func counterCompared(p *check.Pass) {
	histograms := histograms(p)
	for _, s := range p.Subjects {
		if s.Rule.AST == nil {
			continue
		}
		parser.Inspect(s.Rule.AST, func(n parser.Node, path []parser.Node) error {
			b, ok := n.(*parser.BinaryExpr)
			if !ok {
				return nil
			}
			c, ok := promexpr.WithConstant(b)
			if !ok {
				return nil
			}
			counter := valueOf(c.Expr)
			if counter == nil || !isCounter(p, counter, histograms) || lower(c) || provesUse(c, path) {
				return nil
			}
			comparedCounter(p, s, counter)
			return nil
		})
	}
}

// comparedCounter reports a comparison. It is a remark if only the name indicates a counter:
// gauges have such names too.
func comparedCounter(p *check.Pass, s *analysis.Subject, counter *parser.VectorSelector) {
	name := promexpr.MetricName(counter)
	cure, is := "compare its increase, as in increase("+name+"[5m]) > 0", "is a counter: it"
	declared := typeOf(p, counter) != ""
	if !declared {
		is = "is a counter by its name: if it is one, it"
	}
	f := p.InExpr(s, counter, cure,
		"%s %s only increases until its process restarts, so the comparison depends on the uptime and not on the current condition", name, is)
	if !declared {
		f.Severity = check.Info
	}
}

// lower reports whether a comparison is true only below a limit, as in backups_total == 0
// and node_uptime_seconds_total < 600. It shows that little happened since the start, which
// is a current condition.
func lower(c promexpr.Comparison) bool {
	return c.Op == parser.LSS || c.Op == parser.LTE || c.Op == parser.EQLC && c.Limit == 0
}

// provesUse reports whether a comparison only requires, in addition to another condition,
// that a counter was incremented, as in
//
//	requests_total > 0 and histogram_quantile(0.9, rate(request_duration_seconds_bucket[5m])) > 1
func provesUse(c promexpr.Comparison, path []parser.Node) bool {
	if c.Limit != 0 || c.Op != parser.GTR && c.Op != parser.NEQ {
		return false
	}
	for _, n := range slices.Backward(path) {
		switch n := n.(type) {
		case *parser.ParenExpr:
		case *parser.BinaryExpr:
			return n.Op == parser.LAND
		default:
			return false
		}
	}
	return false
}

// valueOf returns the selector whose values the expression returns, possibly summed or
// scaled, or nil.
func valueOf(e parser.Expr) *parser.VectorSelector {
	switch n := promexpr.Bare(e).(type) {
	case *parser.VectorSelector:
		return n
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.SUM, parser.MIN, parser.MAX, parser.AVG, parser.TOPK, parser.BOTTOMK, parser.QUANTILE:
			return valueOf(n.Expr)
		}
	case *parser.Call:
		switch n.Func.Name {
		case "label_replace", "label_join", "sort", "sort_desc":
			return valueOf(n.Args[0])
		case "last_over_time", "min_over_time", "max_over_time", "avg_over_time":
			if m, ok := promexpr.Bare(n.Args[0]).(*parser.MatrixSelector); ok {
				return valueOf(m.VectorSelector)
			}
		}
	case *parser.BinaryExpr:
		if n.Op.IsSetOperator() || n.Op.IsComparisonOperator() {
			return nil
		}
		if _, ok := promexpr.Constant(n.RHS); ok {
			return valueOf(n.LHS)
		}
		if _, ok := promexpr.Constant(n.LHS); ok {
			return valueOf(n.RHS)
		}
	}
	return nil
}

// isCounter reports whether a selector selects a counter, by its type or by its name.
func isCounter(p *check.Pass, s *parser.VectorSelector, histograms map[string]bool) bool {
	name := promexpr.MetricName(s)
	if name == "" || len(p.Recorded[name]) > 0 {
		return false
	}
	if t := typeOf(p, s); t != "" {
		return t == model.MetricTypeCounter
	}
	base, count := strings.CutSuffix(name, "_count")
	return !analysis.Own(name) && !strings.Contains(name, "uptime") && (strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_sum") ||
		count && histograms[base])
}

// histograms returns the names of the histograms and summaries whose buckets or sums the
// rules use. The suffix _count alone is not specific enough.
func histograms(p *check.Pass) map[string]bool {
	all := map[string]bool{}
	for _, s := range p.Subjects {
		for _, selector := range syntax.Selectors(s.Rule.AST) {
			for _, suffix := range []string{"_bucket", "_sum"} {
				if base, ok := strings.CutSuffix(promexpr.MetricName(selector), suffix); ok {
					all[base] = true
				}
			}
		}
	}
	return all
}
