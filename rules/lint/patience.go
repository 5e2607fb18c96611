package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// shortFor finds rules that a single measurement can decide: it may be the one that got
// lost. It is worse for alive, which restarts. What is reported by itself has no rounds.
func shortFor(p *pass) {
	for _, s := range p.subjects {
		if !s.obeyed() || s.rule.AST == nil {
			continue
		}
		h := p.haste(s.rule.AST, nil)
		if !h.hasty() || s.rule.For >= 2*h.every {
			continue
		}
		waits, enough := `without "for"`, ""
		if s.rule.For > 0 {
			waits = `with "for: ` + written(s.rule.For) + `"`
		}
		if s.rule.For >= h.every {
			enough = " when the next one is late"
		}
		f := p.at(s, "for", fmt.Sprintf("set for: %s or more, or use several samples, as max_over_time does", written(2*h.every)),
			"%s, the rule waits for less than two collections of the collector %q, which runs every %s: one failed collection can make %s fail%s",
			waits, h.who, written(h.every), s.rule.State, enough)
		if s.rule.State != "alive" {
			f.Severity = Info
		}
	}
}

// haste is how often the slowest of the collectors looks whose single look can change what
// an expression yields, and which one that is. It is zero where nobody knows, and where
// reports arrive by themselves. An expression is patient if it looks at several rounds.
type haste struct {
	every   time.Duration
	who     string
	patient bool
}

func (h haste) hasty() bool { return h.every > 0 && !h.patient }

// either is the haste of two expressions of which each can decide: that of the hasty one.
func (h haste) either(other haste) haste {
	switch {
	case other.hasty() && (h.patient || other.every > h.every):
		return other
	case h.hasty() || h.patient:
		return h
	}
	return other
}

// both is the haste of two expressions that have to agree: one that is patient is enough.
func (h haste) both(other haste) haste {
	patient := h.patient || other.patient
	if other.every > h.every {
		h = other
	}
	h.patient = patient
	return h
}

// waits is the haste of an expression that looks back for that long.
func (h haste) waits(back time.Duration) haste {
	h.patient = h.patient || h.every > 0 && back >= 2*h.every
	return h
}

// haste walks an expression; via are the recorded names that are being followed.
func (p *pass) haste(e parser.Expr, via []string) haste {
	switch n := bare(e).(type) {
	case *parser.VectorSelector:
		return p.hasteOf(n, via)
	case *parser.MatrixSelector:
		return p.haste(n.VectorSelector, via).waits(n.Range)
	case *parser.SubqueryExpr:
		return p.haste(n.Expr, via).waits(n.Range)
	case *parser.BinaryExpr:
		return p.hasteOfBinary(n, via)
	case *parser.Call:
		var h haste
		for _, arg := range n.Args {
			h = h.both(p.haste(arg, via))
		}
		if latest(n.Func.Name) {
			return p.haste(within(n.Args[0]), via)
		}
		return h
	}
	if inner := operand(e); inner != nil {
		return p.haste(inner, via)
	}
	return haste{}
}

func (p *pass) hasteOf(s *parser.VectorSelector, via []string) haste {
	var h haste
	for _, m := range p.sources(s) {
		if m.Interval > h.every && m.Collector != "" {
			h.every, h.who = m.Interval, m.Collector
		}
	}
	name := metricName(s)
	if slices.Contains(via, name) {
		return h
	}
	for _, rec := range p.recorded[name] {
		if rec.rule.AST == nil {
			continue
		}
		recorded, ok := p.hastes[rec]
		if !ok {
			recorded = p.haste(rec.rule.AST, append(via[:len(via):len(via)], name))
			p.hastes[rec] = recorded
		}
		h = h.either(recorded)
	}
	return h
}

func (p *pass) hasteOfBinary(n *parser.BinaryExpr, via []string) haste {
	left, right := p.haste(n.LHS, via), p.haste(n.RHS, via)
	if c, ok := bare(n.RHS).(*parser.BinaryExpr); ok && n.Op == parser.LUNLESS && !c.Op.IsSetOperator() {
		right = p.haste(c.LHS, via).both(p.haste(c.RHS, via)) // one round decides for the exception
	}
	switch {
	case n.Op == parser.LOR:
		return left.either(right)
	case n.Op == parser.LAND && thenAndNow(n):
		return haste{patient: true}
	case n.Op.IsComparisonOperator() && p.anyRoundDecides(n):
		h := left.both(right)
		h.patient = false
		return h
	case n.Op.IsComparisonOperator() && asksForAge(n):
		return left.both(right).waits(p.age(n))
	}
	return left.both(right)
}

// latest says whether a function over a range only looks at its last sample.
func latest(function string) bool {
	return function == "last_over_time" || function == "present_over_time"
}

// within returns what is in a range.
func within(e parser.Expr) parser.Expr {
	switch n := bare(e).(type) {
	case *parser.MatrixSelector:
		return n.VectorSelector
	case *parser.SubqueryExpr:
		return n.Expr
	}
	return e
}

// anyRoundDecides says whether a comparison is about the extreme of a range that one round
// alone can reach, as in min_over_time(up[5m]) == 0.
func (p *pass) anyRoundDecides(n *parser.BinaryExpr) bool {
	op, side, other := n.Op, n.LHS, n.RHS
	if p.isNumber(n.LHS) {
		op, side, other = flipped(op), n.RHS, n.LHS
	}
	limit, ok := p.number(other)
	call, called := aggregated(side).(*parser.Call)
	if !ok || !called {
		return false
	}
	switch call.Func.Name {
	case "min_over_time":
		return op == parser.LSS || op == parser.LTE || op == parser.EQLC && limit == 0
	case "max_over_time":
		return op == parser.GTR || op == parser.GTE || op == parser.EQLC && limit == 1
	}
	return false
}

// aggregated returns what min, max and the like are made of.
func aggregated(e parser.Expr) parser.Expr {
	for {
		n, ok := bare(e).(*parser.AggregateExpr)
		if !ok {
			return bare(e)
		}
		e = n.Expr
	}
}

// thenAndNow says whether both sides ask for the same metric, at different times.
func thenAndNow(n *parser.BinaryExpr) bool {
	for _, a := range selectors(n.LHS) {
		for _, b := range selectors(n.RHS) {
			if metricName(a) == metricName(b) && a.OriginalOffset != b.OriginalOffset {
				return true
			}
		}
	}
	return false
}

// asksForAge says whether a comparison is about how long ago something was.
func asksForAge(n *parser.BinaryExpr) bool {
	found := false
	parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
		c, ok := n.(*parser.Call)
		found = found || ok && c.Func.Name == "time"
		return nil
	})
	return found && slices.ContainsFunc(selectors(n), func(s *parser.VectorSelector) bool {
		return strings.Contains(metricName(s), "_time") || metricName(s) == ""
	})
}

// age is the longest time that a comparison names in seconds; without any, it is that of
// another metric, and long enough.
func (p *pass) age(n *parser.BinaryExpr) time.Duration {
	longest := math.Inf(1)
	parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
		e, ok := n.(parser.Expr)
		if !ok {
			return nil
		}
		if seconds, ok := p.number(e); ok && (math.IsInf(longest, 1) || seconds > longest) {
			longest = seconds
		}
		return nil
	})
	if longest > 1e9 {
		return math.MaxInt64
	}
	return time.Duration(longest * float64(time.Second))
}
