package analysis

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Cadence describes how often the result of an expression can change: Interval and
// Collector are those of the slowest collector of which one collection can change it.
// Interval is zero if it is unknown or if reports are pushed. Smoothed is set if the
// expression uses several collections.
type Cadence struct {
	Interval  time.Duration
	Collector string
	Smoothed  bool
}

// SingleSample reports whether one collection can change the result.
func (h Cadence) SingleSample() bool { return h.Interval > 0 && !h.Smoothed }

// either returns the cadence of two expressions of which each can decide alone.
func (h Cadence) either(other Cadence) Cadence {
	switch {
	case other.SingleSample() && (h.Smoothed || other.Interval > h.Interval):
		return other
	case h.SingleSample() || h.Smoothed:
		return h
	}
	return other
}

// both returns the cadence of two expressions that must agree: it is smoothed if one of
// them is.
func (h Cadence) both(other Cadence) Cadence {
	smoothed := h.Smoothed || other.Smoothed
	if other.Interval > h.Interval {
		h = other
	}
	h.Smoothed = smoothed
	return h
}

// waits returns the cadence of an expression over a range or an age.
func (h Cadence) waits(back time.Duration) Cadence {
	h.Smoothed = h.Smoothed || h.Interval > 0 && back >= 2*h.Interval
	return h
}

// Cadence computes the cadence of an expression. via names the recording rules on the way.
func (a *Analysis) Cadence(e parser.Expr, via []string) Cadence {
	h, ok := a.nodeCadences[e]
	if !ok {
		h = a.cadenceOfNode(e, via)
		a.nodeCadences[e] = h
	}
	return h
}

func (a *Analysis) cadenceOfNode(e parser.Expr, via []string) Cadence {
	switch n := promexpr.Bare(e).(type) {
	case *parser.VectorSelector:
		return a.cadenceOf(n, via)
	case *parser.MatrixSelector:
		return a.Cadence(n.VectorSelector, via).waits(n.Range)
	case *parser.SubqueryExpr:
		return a.Cadence(n.Expr, via).waits(n.Range)
	case *parser.BinaryExpr:
		return a.cadenceOfBinary(n, via)
	case *parser.Call:
		var h Cadence
		for _, arg := range n.Args {
			h = h.both(a.Cadence(arg, via))
		}
		if latest(n.Func.Name) {
			return a.Cadence(within(n.Args[0]), via)
		}
		return h
	}
	if inner := syntax.Operand(e); inner != nil {
		return a.Cadence(inner, via)
	}
	return Cadence{}
}

func (a *Analysis) cadenceOf(s *parser.VectorSelector, via []string) Cadence {
	var h Cadence
	for _, m := range a.Sources(s) {
		if m.Interval > h.Interval && m.Collector != "" {
			h.Interval, h.Collector = m.Interval, m.Collector
		}
	}
	name := promexpr.MetricName(s)
	if slices.Contains(via, name) {
		return h
	}
	for _, rec := range a.Recorded[name] {
		if rec.Rule.AST == nil {
			continue
		}
		recorded, ok := a.cadences[rec]
		if !ok {
			recorded = a.Cadence(rec.Rule.AST, append(via[:len(via):len(via)], name))
			a.cadences[rec] = recorded
		}
		h = h.either(recorded)
	}
	return h
}

func (a *Analysis) cadenceOfBinary(n *parser.BinaryExpr, via []string) Cadence {
	left, right := a.Cadence(n.LHS, via), a.Cadence(n.RHS, via)
	if c, ok := promexpr.Bare(n.RHS).(*parser.BinaryExpr); ok && n.Op == parser.LUNLESS && !c.Op.IsSetOperator() {
		right = a.Cadence(c.LHS, via).both(a.Cadence(c.RHS, via)) // one collection decides the exception
	}
	switch {
	case n.Op == parser.LOR:
		return left.either(right)
	case n.Op == parser.LAND && a.thenAndNow(n):
		return Cadence{Smoothed: true}
	case n.Op.IsComparisonOperator() && oneCollectionDecides(n):
		h := left.both(right)
		h.Smoothed = false
		return h
	case n.Op.IsComparisonOperator() && a.comparesAge(n):
		return left.both(right).waits(age(n))
	}
	return left.both(right)
}

// latest reports whether a function over a range uses only the last sample.
func latest(function string) bool {
	return function == "last_over_time" || function == "present_over_time"
}

// within returns the operand of a range.
func within(e parser.Expr) parser.Expr {
	switch n := promexpr.Bare(e).(type) {
	case *parser.MatrixSelector:
		return n.VectorSelector
	case *parser.SubqueryExpr:
		return n.Expr
	}
	return e
}

// oneCollectionDecides reports whether a single collection can make a comparison over a range
// true, as in min_over_time(up[5m]) == 0.
func oneCollectionDecides(n *parser.BinaryExpr) bool {
	c, ok := promexpr.WithConstant(n)
	if !ok {
		return false
	}
	call, ok := aggregated(c.Expr).(*parser.Call)
	if !ok {
		return false
	}
	switch call.Func.Name {
	case "min_over_time":
		return c.Op == parser.LSS || c.Op == parser.LTE || c.Op == parser.EQLC && c.Limit == 0
	case "max_over_time":
		return c.Op == parser.GTR || c.Op == parser.GTE || c.Op == parser.EQLC && c.Limit == 1
	}
	return false
}

// aggregated returns the operand of nested aggregations.
func aggregated(e parser.Expr) parser.Expr {
	for {
		n, ok := promexpr.Bare(e).(*parser.AggregateExpr)
		if !ok {
			return promexpr.Bare(e)
		}
		e = n.Expr
	}
}

// thenAndNow reports whether both sides select the same metric at different times.
func (a *Analysis) thenAndNow(n *parser.BinaryExpr) bool {
	if !a.traits(n).skewed {
		return false
	}
	for _, left := range syntax.Selectors(n.LHS) {
		for _, right := range syntax.Selectors(n.RHS) {
			if promexpr.MetricName(left) == promexpr.MetricName(right) && left.OriginalOffset != right.OriginalOffset {
				return true
			}
		}
	}
	return false
}

// comparesAge reports whether a comparison tests how long ago something was.
func (a *Analysis) comparesAge(n *parser.BinaryExpr) bool {
	return a.traits(n).timed && slices.ContainsFunc(syntax.Selectors(n), func(s *parser.VectorSelector) bool {
		return strings.Contains(promexpr.MetricName(s), "_time") || promexpr.MetricName(s) == ""
	})
}

// age returns the longest constant of a comparison, in seconds. Without a constant the
// limit is another metric, and the age counts as long enough.
func age(n *parser.BinaryExpr) time.Duration {
	longest := math.Inf(1)
	parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
		e, ok := n.(parser.Expr)
		if !ok {
			return nil
		}
		if seconds, ok := promexpr.Constant(e); ok && (math.IsInf(longest, 1) || seconds > longest) {
			longest = seconds
		}
		return nil
	})
	if longest > 1e9 {
		return math.MaxInt64
	}
	return time.Duration(longest * float64(time.Second))
}
