package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// shortFor finds rules that a single collection can decide, which may be a failed one. It
// is worse for alive, which restarts. Components that push reports have no collection
// interval.
func shortFor(p *pass, s *subject) {
	if !s.enforced() {
		return
	}
	h := p.cadence(s.rule.AST, nil)
	if !h.singleSample() || s.rule.For >= 2*h.interval {
		return
	}
	waits, enough := `without "for"`, ""
	if s.rule.For > 0 {
		waits = `with "for: ` + formatDuration(s.rule.For) + `"`
	}
	if s.rule.For >= h.interval {
		enough = " when the next one is late"
	}
	f := p.at(s, "for", fmt.Sprintf("set for: %s or more, or use several samples, as max_over_time does", formatDuration(2*h.interval)),
		"%s, the rule waits for less than two collections of the collector %q, which runs every %s: one failed collection can make %s fail%s",
		waits, h.collector, formatDuration(h.interval), s.rule.State, enough)
	if s.rule.State != "alive" {
		f.Severity = Info
	}
}

// cadence describes how often the result of an expression can change: interval and
// collector are those of the slowest collector of which one collection can change it.
// interval is zero if it is unknown or if reports are pushed. smoothed is set if the
// expression uses several collections.
type cadence struct {
	interval  time.Duration
	collector string
	smoothed  bool
}

func (h cadence) singleSample() bool { return h.interval > 0 && !h.smoothed }

// either returns the cadence of two expressions of which each can decide alone.
func (h cadence) either(other cadence) cadence {
	switch {
	case other.singleSample() && (h.smoothed || other.interval > h.interval):
		return other
	case h.singleSample() || h.smoothed:
		return h
	}
	return other
}

// both returns the cadence of two expressions that must agree: it is smoothed if one of
// them is.
func (h cadence) both(other cadence) cadence {
	smoothed := h.smoothed || other.smoothed
	if other.interval > h.interval {
		h = other
	}
	h.smoothed = smoothed
	return h
}

// waits returns the cadence of an expression over a range or an age.
func (h cadence) waits(back time.Duration) cadence {
	h.smoothed = h.smoothed || h.interval > 0 && back >= 2*h.interval
	return h
}

// cadence computes the cadence of an expression. via names the recording rules on the way.
func (p *pass) cadence(e parser.Expr, via []string) cadence {
	h, ok := p.nodeCadences[e]
	if !ok {
		h = p.cadenceOfNode(e, via)
		p.nodeCadences[e] = h
	}
	return h
}

func (p *pass) cadenceOfNode(e parser.Expr, via []string) cadence {
	switch n := promexpr.Bare(e).(type) {
	case *parser.VectorSelector:
		return p.cadenceOf(n, via)
	case *parser.MatrixSelector:
		return p.cadence(n.VectorSelector, via).waits(n.Range)
	case *parser.SubqueryExpr:
		return p.cadence(n.Expr, via).waits(n.Range)
	case *parser.BinaryExpr:
		return p.cadenceOfBinary(n, via)
	case *parser.Call:
		var h cadence
		for _, arg := range n.Args {
			h = h.both(p.cadence(arg, via))
		}
		if latest(n.Func.Name) {
			return p.cadence(within(n.Args[0]), via)
		}
		return h
	}
	if inner := operand(e); inner != nil {
		return p.cadence(inner, via)
	}
	return cadence{}
}

func (p *pass) cadenceOf(s *parser.VectorSelector, via []string) cadence {
	var h cadence
	for _, m := range p.sources(s) {
		if m.Interval > h.interval && m.Collector != "" {
			h.interval, h.collector = m.Interval, m.Collector
		}
	}
	name := promexpr.MetricName(s)
	if slices.Contains(via, name) {
		return h
	}
	for _, rec := range p.recorded[name] {
		if rec.rule.AST == nil {
			continue
		}
		recorded, ok := p.cadences[rec]
		if !ok {
			recorded = p.cadence(rec.rule.AST, append(via[:len(via):len(via)], name))
			p.cadences[rec] = recorded
		}
		h = h.either(recorded)
	}
	return h
}

func (p *pass) cadenceOfBinary(n *parser.BinaryExpr, via []string) cadence {
	left, right := p.cadence(n.LHS, via), p.cadence(n.RHS, via)
	if c, ok := promexpr.Bare(n.RHS).(*parser.BinaryExpr); ok && n.Op == parser.LUNLESS && !c.Op.IsSetOperator() {
		right = p.cadence(c.LHS, via).both(p.cadence(c.RHS, via)) // one collection decides the exception
	}
	switch {
	case n.Op == parser.LOR:
		return left.either(right)
	case n.Op == parser.LAND && p.thenAndNow(n):
		return cadence{smoothed: true}
	case n.Op.IsComparisonOperator() && oneCollectionDecides(n):
		h := left.both(right)
		h.smoothed = false
		return h
	case n.Op.IsComparisonOperator() && p.comparesAge(n):
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
func (p *pass) thenAndNow(n *parser.BinaryExpr) bool {
	if !p.traits(n).skewed {
		return false
	}
	for _, a := range selectors(n.LHS) {
		for _, b := range selectors(n.RHS) {
			if promexpr.MetricName(a) == promexpr.MetricName(b) && a.OriginalOffset != b.OriginalOffset {
				return true
			}
		}
	}
	return false
}

// comparesAge reports whether a comparison tests how long ago something was.
func (p *pass) comparesAge(n *parser.BinaryExpr) bool {
	return p.traits(n).timed && slices.ContainsFunc(selectors(n), func(s *parser.VectorSelector) bool {
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
