package numbers

import (
	"math"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Passing returns the values of v for which "v op w" holds with at least one value of w. Of
// the comparisons with NaN only != holds, as in Prometheus.
func (v Values) Passing(op parser.ItemType, w Values) Values {
	if len(w.spans) == 0 {
		if op == parser.NEQ {
			return v
		}
		return Values{}
	}
	least, greatest := w.spans[0].from, w.spans[len(w.spans)-1].to
	switch op {
	case parser.EQLC:
		return v.And(Values{w.spans, false})
	case parser.NEQ:
		if n, ok := w.Number(); ok {
			return v.Without(One(n))
		}
		return v
	case parser.GTR:
		return v.And(Values{[]span{{cut{least.at, true}, end()}}, false})
	case parser.GTE:
		return v.And(Values{[]span{{least, end()}}, false})
	case parser.LSS:
		return v.And(Values{[]span{{begin(), cut{greatest.at, false}}}, false})
	case parser.LTE:
		return v.And(Values{[]span{{begin(), greatest}}, false})
	}
	return v
}

// AlwaysPasses reports whether "v op w" holds for all values of both.
func (v Values) AlwaysPasses(op parser.ItemType, w Values) bool {
	return (!w.nan || op == parser.NEQ) && len(v.Passing(inverse(op), Values{w.spans, false}).spans) == 0
}

// inverse returns the comparison that holds where op does not.
func inverse(op parser.ItemType) parser.ItemType {
	return map[parser.ItemType]parser.ItemType{
		parser.EQLC: parser.NEQ, parser.NEQ: parser.EQLC, parser.GTR: parser.LTE,
		parser.LTE: parser.GTR, parser.LSS: parser.GTE, parser.GTE: parser.LSS,
	}[op]
}

// Calculated returns the possible results of "v op w", or a superset of them.
func (v Values) Calculated(op parser.ItemType, w Values) Values {
	if math.IsNaN(promexpr.Calculate(op, 1, 1)) {
		return Any() // not an arithmetic operator
	}
	if (op == parser.DIV || op == parser.POW || op == parser.ATAN2) && (w.mayBe(0) || op != parser.DIV && v.mayBe(0)) {
		return Any() // these distinguish 0 from -0
	}
	a, few := v.points()
	b, fewToo := w.points()
	if few && fewToo && !v.nan && !w.nan {
		var all Values
		for _, x := range a {
			for _, y := range b {
				all = all.Or(One(promexpr.Calculate(op, x, y)))
			}
		}
		return all
	}
	x, left := v.Number()
	y, right := w.Number()
	switch {
	case right && !math.IsInf(y, 0):
		return v.scaled(op, y)
	case left && !math.IsInf(x, 0) && (op == parser.ADD || op == parser.MUL):
		return w.scaled(op, x)
	case left && !math.IsInf(x, 0) && op == parser.SUB:
		return w.mapped(func(y float64) float64 { return x - y })
	}
	positive := Between(0, math.Inf(1))
	if (op == parser.ADD || op == parser.MUL || op == parser.DIV) && positive.Covers(v) && positive.Covers(w) {
		return positive.OrNaN()
	}
	return Any()
}

// scaled returns the possible results of "v op y", or a superset of them.
func (v Values) scaled(op parser.ItemType, y float64) Values {
	monotonic := op == parser.ADD || op == parser.SUB || (op == parser.MUL || op == parser.DIV) && y != 0
	if !monotonic {
		return Any()
	}
	return v.mapped(func(x float64) float64 { return promexpr.Calculate(op, x, y) })
}

// Clamped returns the values limited to a range.
func (v Values) Clamped(least, greatest Values) Values {
	from, ok := least.Number()
	to, also := greatest.Number()
	if !ok || !also {
		return Any()
	}
	return v.mapped(func(x float64) float64 { return max(from, min(to, x)) })
}
