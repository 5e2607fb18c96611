package numbers

import (
	"fmt"
	"math"
	"strings"
)

// Values is a set of numbers: all numbers within the spans, and NaN if nan is set. The zero
// value is the empty set.
type Values struct {
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

// Any returns every number and NaN.
func Any() Values { return Values{[]span{{begin(), end()}}, true} }

// One returns the set of a single number.
func One(v float64) Values {
	if math.IsNaN(v) {
		return Values{nil, true}
	}
	return Between(v, v)
}

// Between returns a closed interval.
func Between(from, to float64) Values {
	return Values{[]span{{cut{from + 0, false}, cut{to + 0, true}}}, false} // + 0 turns -0 into 0
}

// OneOf returns the set of some numbers.
func OneOf(all ...float64) Values {
	var set Values
	for _, v := range all {
		set = set.Or(One(v))
	}
	return set
}

// Empty reports whether nothing is in the set.
func (v Values) Empty() bool { return len(v.spans) == 0 && !v.nan }

// Number returns the only number in the set, if there is just one.
func (v Values) Number() (n float64, ok bool) {
	points, ok := v.points()
	if !ok || len(points) != 1 || v.nan {
		return 0, false
	}
	return points[0], true
}

// points returns all numbers in the set, if they are few.
func (v Values) points() (points []float64, ok bool) {
	for _, s := range v.spans {
		if s.from.at != s.to.at {
			return nil, false
		}
		points = append(points, s.from.at)
	}
	return points, len(points) > 0 && len(points) <= 8
}

// And returns the intersection.
func (v Values) And(w Values) Values {
	both := Values{nan: v.nan && w.nan}
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
func (v Values) not() Values {
	rest := Values{nan: !v.nan}
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

// Or returns the union.
func (v Values) Or(w Values) Values { return v.not().And(w.not()).not() }

// Without returns what is in v and not in w.
func (v Values) Without(w Values) Values { return v.And(w.not()) }

// Covers reports whether every number of w is in v, apart from NaN.
func (v Values) Covers(w Values) bool { return len(w.Without(v).spans) == 0 }

// Within reports whether all of v, including NaN, is in w.
func (v Values) Within(w Values) bool { return v.Without(w).Empty() }

func (v Values) mayBe(n float64) bool { return !v.And(One(n)).Empty() }

// Hull returns the closed interval from the least to the greatest number.
func (v Values) Hull() Values {
	if len(v.spans) > 0 {
		v.spans = []span{{v.spans[0].from, v.spans[len(v.spans)-1].to}}
	}
	return v
}

// OrNaN returns v and NaN.
func (v Values) OrNaN() Values {
	v.nan = true
	return v
}

// MayBeNaN reports whether NaN is in the set.
func (v Values) MayBeNaN() bool { return v.nan }

// OnlyNaN returns the set without its numbers.
func (v Values) OnlyNaN() Values { return Values{nil, v.nan} }

// WithoutNaN returns the numbers in the set.
func (v Values) WithoutNaN() Values { return Values{v.spans, false} }

// String describes the set, as in "0 or 1" or "at least 0".
func (v Values) String() string {
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
func (v Values) mapped(f func(float64) float64) Values {
	result := Values{nan: v.nan}
	for _, s := range v.spans {
		a, b := f(s.from.at), f(s.to.at)
		if math.IsNaN(a) || math.IsNaN(b) {
			return Any()
		}
		result = result.Or(Between(min(a, b), max(a, b)))
	}
	return result
}
