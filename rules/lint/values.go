package lint

import (
	"fmt"
	"math"
	"strings"
)

// values is a set of numbers: all numbers within the spans, and NaN if nan is set. The zero
// value is the empty set.
type values struct {
	// spans are in order and do not touch each other.
	spans []span
	nan   bool
}

// span is the numbers between two cuts; from is before to.
type span struct{ from, to cut }

// cut divides all numbers in two: the number itself is on the left if after is set.
type cut struct {
	at    float64
	after bool
}

func (c cut) before(d cut) bool { return c.at < d.at || c.at == d.at && !c.after && d.after }

func earlier(c, d cut) cut {
	if d.before(c) {
		return d
	}
	return c
}

func later(c, d cut) cut {
	if c.before(d) {
		return d
	}
	return c
}

func begin() cut { return cut{math.Inf(-1), false} }
func end() cut   { return cut{math.Inf(1), true} }

// anyNumber is every number and NaN, one is a single number, and between is a closed
// interval.
func anyNumber() values { return values{[]span{{begin(), end()}}, true} }

func one(v float64) values {
	if math.IsNaN(v) {
		return values{nil, true}
	}
	return between(v, v)
}

func between(from, to float64) values {
	return values{[]span{{cut{from + 0, false}, cut{to + 0, true}}}, false} // + 0 turns -0 into 0
}

func oneOf(all ...float64) values {
	var set values
	for _, v := range all {
		set = set.or(one(v))
	}
	return set
}

func (v values) empty() bool { return len(v.spans) == 0 && !v.nan }

// number returns the only number in the set, if there is just one.
func (v values) number() (n float64, ok bool) {
	points, ok := v.points()
	if !ok || len(points) != 1 || v.nan {
		return 0, false
	}
	return points[0], true
}

// points returns all numbers in the set, if they are few.
func (v values) points() (points []float64, ok bool) {
	for _, s := range v.spans {
		if s.from.at != s.to.at {
			return nil, false
		}
		points = append(points, s.from.at)
	}
	return points, len(points) > 0 && len(points) <= 8
}

func (v values) and(w values) values {
	both := values{nan: v.nan && w.nan}
	for _, s := range v.spans {
		for _, t := range w.spans {
			if from, to := later(s.from, t.from), earlier(s.to, t.to); from.before(to) {
				both.spans = append(both.spans, span{from, to})
			}
		}
	}
	return both
}

// not returns the complement.
func (v values) not() values {
	rest := values{nan: !v.nan}
	from := begin()
	for _, s := range v.spans {
		if from.before(s.from) {
			rest.spans = append(rest.spans, span{from, s.from})
		}
		from = s.to
	}
	if from.before(end()) {
		rest.spans = append(rest.spans, span{from, end()})
	}
	return rest
}

func (v values) or(w values) values      { return v.not().and(w.not()).not() }
func (v values) without(w values) values { return v.and(w.not()) }

// covers reports whether every number of w is in v, apart from NaN.
func (v values) covers(w values) bool { return len(w.without(v).spans) == 0 }

// within reports whether all of v, including NaN, is in w.
func (v values) within(w values) bool { return v.without(w).empty() }

func (v values) mayBe(n float64) bool { return !v.and(one(n)).empty() }

// hull returns the closed interval from the least to the greatest number.
func (v values) hull() values {
	if len(v.spans) > 0 {
		v.spans = []span{{v.spans[0].from, v.spans[len(v.spans)-1].to}}
	}
	return v
}

// orNaN returns v and NaN.
func (v values) orNaN() values {
	v.nan = true
	return v
}

// String describes the set, as in "0 or 1" or "at least 0".
func (v values) String() string {
	var parts []string
	for _, s := range v.spans {
		parts = append(parts, s.String())
	}
	if len(parts) == 0 {
		return "NaN"
	}
	return strings.Join(parts, " or ")
}

func (s span) String() string {
	lower := map[bool]string{false: "at least", true: "above"}[s.from.after]
	upper := map[bool]string{false: "below", true: "at most"}[s.to.after]
	switch {
	case s.from.at == s.to.at:
		return fmt.Sprint(s.from.at)
	case s.from == begin() && s.to == end():
		return "any number"
	case s.from == begin():
		return fmt.Sprint(upper, " ", s.to.at)
	case s.to == end():
		return fmt.Sprint(lower, " ", s.from.at)
	}
	if !s.from.after && s.to.after {
		return fmt.Sprint("from ", s.from.at, " to ", s.to.at)
	}
	return fmt.Sprint(lower, " ", s.from.at, " and ", upper, " ", s.to.at)
}

// mapped returns the results of f, which must be monotonic, for all numbers. Open ends
// become closed, as f may round.
func (v values) mapped(f func(float64) float64) values {
	result := values{nan: v.nan}
	for _, s := range v.spans {
		a, b := f(s.from.at), f(s.to.at)
		if math.IsNaN(a) || math.IsNaN(b) {
			return anyNumber()
		}
		result = result.or(between(min(a, b), max(a, b)))
	}
	return result
}
