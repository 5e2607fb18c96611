package lint

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// rateOfGauge finds range functions that are applied to the wrong type of metric. rate
// treats a decreasing gauge as a counter reset, and delta treats a counter reset as a
// decrease.
func rateOfGauge(p *pass) {
	for _, s := range p.subjects {
		p.nodes(s, func(n parser.Node) {
			call, selector := rangeCall(n)
			if selector == nil {
				return
			}
			name := call.Func.Name
			switch t := p.typeOf(selector); {
			case name == "resets" && strings.Contains(metricName(selector), "uptime"): // an uptime decreases when its process restarts
			case t == model.MetricTypeGauge && forCounters(name):
				p.inExpr(s, call, "use delta, deriv or changes, or compare the value itself",
					"%s treats every decrease as a counter reset, and %s is a gauge, which can decrease", name, metricName(selector))
			case t == model.MetricTypeCounter && forGauges(name):
				p.inExpr(s, call, "use rate or increase",
					"%s does not handle resets, and the counter %s restarts at 0 with its process", name, metricName(selector)).Severity = Warning
			}
		})
	}
}

// rangeCall returns the function and the selector of a call such as rate(x[5m]), or nil.
func rangeCall(n parser.Node) (*parser.Call, *parser.VectorSelector) {
	call, ok := n.(*parser.Call)
	if !ok {
		return nil, nil
	}
	for _, arg := range call.Args {
		if m, ok := bare(arg).(*parser.MatrixSelector); ok {
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
func (p *pass) typeOf(s *parser.VectorSelector) model.MetricType {
	var t model.MetricType
	for i, m := range p.sources(s) {
		if i > 0 && m.Type != t {
			return ""
		}
		t = m.Type
	}
	if len(p.recorded[metricName(s)]) > 0 {
		return ""
	}
	return t
}

// counterCompared finds comparisons of a counter with a number. Counters of other programs
// are recognised by their names.
func counterCompared(p *pass) {
	histograms := p.histograms()
	for _, s := range p.subjects {
		if s.rule.AST == nil {
			continue
		}
		parser.Inspect(s.rule.AST, func(n parser.Node, path []parser.Node) error {
			b, ok := n.(*parser.BinaryExpr)
			if !ok || !b.Op.IsComparisonOperator() {
				return nil
			}
			for _, sides := range [][2]parser.Expr{{b.LHS, b.RHS}, {b.RHS, b.LHS}} {
				counter := p.valueOf(sides[0])
				if counter == nil || !p.isNumber(sides[1]) || !p.isCounter(counter, histograms) || p.never(b) || p.provesUse(b, path) {
					continue
				}
				p.inExpr(s, counter, "compare its increase, as in increase("+metricName(counter)+"[5m]) > 0",
					"%s is a counter: it only increases until its process restarts, so the comparison depends on the uptime and not on the current condition", metricName(counter))
			}
			return nil
		})
	}
}

// never reports whether a comparison tests that a counter was never incremented, as in
//
//	backups_total == 0
func (p *pass) never(b *parser.BinaryExpr) bool {
	op, counter, other := b.Op, b.LHS, b.RHS
	if p.isNumber(b.LHS) {
		op, counter, other = flipped(op), b.RHS, b.LHS
	}
	number, _ := p.number(other)
	_, scaled := bare(counter).(*parser.BinaryExpr)
	return number == 0 && (op == parser.EQLC || op == parser.LTE) || op == parser.LSS && 0 < number && number <= 1 && !scaled
}

// provesUse reports whether a comparison only requires, in addition to another condition,
// that a counter was incremented, as in
//
//	requests_total > 0 and histogram_quantile(0.9, rate(request_duration_seconds_bucket[5m])) > 1
func (p *pass) provesUse(b *parser.BinaryExpr, path []parser.Node) bool {
	op, other := b.Op, b.RHS
	if p.isNumber(b.LHS) {
		op, other = flipped(op), b.LHS
	}
	if number, _ := p.number(other); number != 0 || op != parser.GTR && op != parser.NEQ {
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

// number returns the constant value of an expression, which may be calculated.
func (p *pass) number(e parser.Expr) (n float64, ok bool) {
	if e.Type() != parser.ValueTypeScalar {
		return 0, false
	}
	return (&analyzer{pass: p}).analyze(e).number()
}

func (p *pass) isNumber(e parser.Expr) bool {
	_, ok := p.number(e)
	return ok
}

// valueOf returns the selector whose values the expression returns, possibly summed or
// scaled, or nil.
func (p *pass) valueOf(e parser.Expr) *parser.VectorSelector {
	switch n := bare(e).(type) {
	case *parser.VectorSelector:
		return n
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.SUM, parser.MIN, parser.MAX, parser.AVG, parser.TOPK, parser.BOTTOMK, parser.QUANTILE:
			return p.valueOf(n.Expr)
		}
	case *parser.Call:
		switch n.Func.Name {
		case "label_replace", "label_join", "sort", "sort_desc":
			return p.valueOf(n.Args[0])
		case "last_over_time", "min_over_time", "max_over_time", "avg_over_time":
			if m, ok := bare(n.Args[0]).(*parser.MatrixSelector); ok {
				return p.valueOf(m.VectorSelector)
			}
		}
	case *parser.BinaryExpr:
		switch {
		case n.Op.IsSetOperator() || n.Op.IsComparisonOperator():
			return nil
		case p.isNumber(n.RHS):
			return p.valueOf(n.LHS)
		case p.isNumber(n.LHS):
			return p.valueOf(n.RHS)
		}
	}
	return nil
}

// isCounter reports whether a selector selects a counter, by its type or by its name.
func (p *pass) isCounter(s *parser.VectorSelector, histograms map[string]bool) bool {
	name := metricName(s)
	if name == "" || len(p.recorded[name]) > 0 {
		return false
	}
	if t := p.typeOf(s); t != "" {
		return t == model.MetricTypeCounter
	}
	base, count := strings.CutSuffix(name, "_count")
	return !own(name) && (strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_sum") ||
		count && histograms[base])
}

// histograms returns the names of the histograms and summaries whose buckets or sums the
// rules use. The suffix _count alone is not specific enough.
func (p *pass) histograms() map[string]bool {
	all := map[string]bool{}
	for _, s := range p.subjects {
		if s.rule.AST == nil {
			continue
		}
		for _, selector := range selectors(s.rule.AST) {
			for _, suffix := range []string{"_bucket", "_sum"} {
				if base, ok := strings.CutSuffix(metricName(selector), suffix); ok {
					all[base] = true
				}
			}
		}
	}
	return all
}
