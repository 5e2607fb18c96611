package lint

import (
	"math"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// passing returns the values of v for which "v op w" holds with at least one value of w. Of
// the comparisons with NaN only != holds, as in Prometheus.
func (v values) passing(op parser.ItemType, w values) values {
	if len(w.spans) == 0 {
		if op == parser.NEQ {
			return v
		}
		return values{}
	}
	least, greatest := w.spans[0].from, w.spans[len(w.spans)-1].to
	switch op {
	case parser.EQLC:
		return v.and(values{w.spans, false})
	case parser.NEQ:
		if n, ok := w.number(); ok {
			return v.without(one(n))
		}
		return v
	case parser.GTR:
		return v.and(values{[]span{{cut{least.at, true}, end()}}, false})
	case parser.GTE:
		return v.and(values{[]span{{least, end()}}, false})
	case parser.LSS:
		return v.and(values{[]span{{begin(), cut{greatest.at, false}}}, false})
	case parser.LTE:
		return v.and(values{[]span{{begin(), greatest}}, false})
	}
	return v
}

// alwaysPasses reports whether "v op w" holds for all values of both.
func (v values) alwaysPasses(op parser.ItemType, w values) bool {
	return (!w.nan || op == parser.NEQ) && len(v.passing(inverse(op), values{w.spans, false}).spans) == 0
}

// inverse returns the comparison that holds where op does not.
func inverse(op parser.ItemType) parser.ItemType {
	return map[parser.ItemType]parser.ItemType{
		parser.EQLC: parser.NEQ, parser.NEQ: parser.EQLC, parser.GTR: parser.LTE,
		parser.LTE: parser.GTR, parser.LSS: parser.GTE, parser.GTE: parser.LSS,
	}[op]
}

// calculated returns the possible results of "v op w", or a superset of them.
func (v values) calculated(op parser.ItemType, w values) values {
	if math.IsNaN(promexpr.Calculate(op, 1, 1)) {
		return anyNumber() // not an arithmetic operator
	}
	if (op == parser.DIV || op == parser.POW || op == parser.ATAN2) && (w.mayBe(0) || op != parser.DIV && v.mayBe(0)) {
		return anyNumber() // these distinguish 0 from -0
	}
	a, few := v.points()
	b, fewToo := w.points()
	if few && fewToo && !v.nan && !w.nan {
		var all values
		for _, x := range a {
			for _, y := range b {
				all = all.or(one(promexpr.Calculate(op, x, y)))
			}
		}
		return all
	}
	x, left := v.number()
	y, right := w.number()
	switch {
	case right && !math.IsInf(y, 0):
		return v.scaled(op, y)
	case left && !math.IsInf(x, 0) && (op == parser.ADD || op == parser.MUL):
		return w.scaled(op, x)
	case left && !math.IsInf(x, 0) && op == parser.SUB:
		return w.mapped(func(y float64) float64 { return x - y })
	}
	positive := between(0, math.Inf(1))
	if (op == parser.ADD || op == parser.MUL || op == parser.DIV) && positive.covers(v) && positive.covers(w) {
		return positive.orNaN()
	}
	return anyNumber()
}

// scaled returns the possible results of "v op y", or a superset of them.
func (v values) scaled(op parser.ItemType, y float64) values {
	monotonic := op == parser.ADD || op == parser.SUB || (op == parser.MUL || op == parser.DIV) && y != 0
	if !monotonic {
		return anyNumber()
	}
	return v.mapped(func(x float64) float64 { return promexpr.Calculate(op, x, y) })
}
