package numbers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// points are the numbers from which random sets are made.
func points() []float64 {
	return []float64{math.Copysign(0, -1), math.Inf(-1), -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, math.Inf(1), math.NaN()}
}

// samplePoints returns the points and numbers between them.
func samplePoints() []float64 {
	return append(points(), -3, -1.75, -1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 1.75, 3)
}

func (v Values) has(x float64) bool {
	if math.IsNaN(x) {
		return v.nan
	}
	return slices.ContainsFunc(v.spans, func(s span) bool {
		return s.from.before(cut{x, true}) && cut{x, false}.before(s.to)
	})
}

func randomValues(r *rand.Rand) Values {
	all := []func() Values{
		func() Values { return Values{} },
		Any,
		func() Values { return One(points()[r.IntN(13)]) },
		func() Values { return randomValues(r).Or(randomValues(r)) },
		func() Values { return randomValues(r).not() },
		func() Values {
			ops := []parser.ItemType{parser.EQLC, parser.NEQ, parser.GTR, parser.GTE, parser.LSS, parser.LTE}
			return Any().Passing(ops[r.IntN(len(ops))], One(points()[r.IntN(13)]))
		},
	}
	return all[r.IntN(len(all))]()
}

// compare returns the result of a comparison in Prometheus.
func compare(op parser.ItemType, x, y float64) bool {
	switch op {
	case parser.EQLC:
		return x == y
	case parser.NEQ:
		return x != y
	case parser.GTR:
		return x > y
	case parser.GTE:
		return x >= y
	case parser.LSS:
		return x < y
	}
	return x <= y
}

// Operations on sets agree with those on each number.
func TestValuesByTheNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		a, b := randomValues(r), randomValues(r)
		if got, want := a.Empty(), !slices.ContainsFunc(samplePoints(), a.has); got != want {
			t.Fatalf("(%v).Empty() = %t, want %t", a, got, want)
		}
		for _, x := range samplePoints() {
			for _, c := range []struct {
				name      string
				got, want bool
			}{
				{"or", a.Or(b).has(x), a.has(x) || b.has(x)},
				{"and", a.And(b).has(x), a.has(x) && b.has(x)},
				{"without", a.Without(b).has(x), a.has(x) && !b.has(x)},
				{"not", a.not().has(x), !a.has(x)},
				{"within", a.Within(b), !slices.ContainsFunc(samplePoints(), func(x float64) bool { return a.has(x) && !b.has(x) })},
			} {
				if c.got != c.want {
					t.Fatalf("%s of %+v and %+v, for %v: %t, want %t", c.name, a, b, x, c.got, c.want)
				}
			}
		}
	}
}

// A comparison keeps, and an operation returns, at least the results for single numbers.
// Comparisons with one number keep no more.
func TestValuesComparedAndCalculated(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ops := []parser.ItemType{parser.EQLC, parser.NEQ, parser.GTR, parser.GTE, parser.LSS, parser.LTE}
	operations := []parser.ItemType{parser.ADD, parser.SUB, parser.MUL, parser.DIV, parser.MOD, parser.POW, parser.ATAN2}
	for range 3000 {
		a, b := randomValues(r), randomValues(r)
		single := points()[r.IntN(13)]
		op, operation := ops[r.IntN(len(ops))], operations[r.IntN(len(operations))]
		for _, x := range points() {
			if got, want := a.Passing(op, One(single)).has(x), a.has(x) && compare(op, x, single); got != want {
				t.Fatalf("(%v).Passing(%s, %v) has %v: %t, want %t", a, op, single, x, got, want)
			}
			if compare(promexpr.Mirror(op), single, x) != compare(op, x, single) || !math.IsNaN(x+single) && compare(inverse(op), x, single) == compare(op, x, single) {
				t.Fatalf("promexpr.Mirror(%s) = %s, inverse(%s) = %s", op, promexpr.Mirror(op), op, inverse(op))
			}
			for _, y := range points() {
				if !a.has(x) || !b.has(y) {
					continue
				}
				holds := compare(op, x, y)
				if holds && !a.Passing(op, b).has(x) {
					t.Fatalf("(%v).Passing(%s, %v) lacks %v, which %v lets pass", a, op, b, x, y)
				}
				if !holds && !math.IsNaN(x) && a.AlwaysPasses(op, b) {
					t.Fatalf("(%v).AlwaysPasses(%s, %v), want false because of %v and %v", a, op, b, x, y)
				}
				if z := promexpr.Calculate(operation, x, y); !a.Calculated(operation, b).has(z) {
					t.Fatalf("(%v).Calculated(%s, %v) = %v lacks %v, of %v and %v", a, operation, b, a.Calculated(operation, b), z, x, y)
				}
			}
		}
	}
}

func TestValuesInWords(t *testing.T) {
	for want, v := range map[string]Values{
		"NaN":                   One(math.NaN()),
		"0 or 1":                OneOf(1, 0),
		"any number":            Any(),
		"from 0 to 1":           Between(0, 1),
		"above 5":               Any().Passing(parser.GTR, One(5)),
		"at most 5":             Any().Passing(parser.LTE, One(5)),
		"below 1 or above 1":    Between(math.Inf(-1), math.Inf(1)).Without(One(1)),
		"above 0 and at most 1": Between(0, 1).Without(One(0)),
		"at least 0":            Between(0, math.Inf(1)),
	} {
		if got := v.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

// Simple operations are exact.
func TestValuesCalculatedInWords(t *testing.T) {
	bit, ratio := OneOf(0, 1), Between(0, 1)
	positive := Between(0, math.Inf(1))
	for _, c := range []struct {
		v    Values
		op   parser.ItemType
		w    Values
		want string
	}{
		{bit, parser.MUL, One(100), "0 or 100"},
		{One(1), parser.SUB, bit, "0 or 1"},
		{bit, parser.ADD, bit, "0 or 1 or 2"},
		{One(2), parser.ATAN2, One(2), "0.7853981633974483"},
		{One(1), parser.ATAN2, bit, "any number"},
		{bit, parser.ATAN2, One(1), "any number"},
		{bit, parser.POW, One(-1), "any number"},
		{One(1), parser.DIV, bit, "any number"},
		{bit, parser.DIV, One(4), "0 or 0.25"},
		{OneOf(1, 2, 3, 4, 5, 6, 7, 8), parser.POW, One(2), "1 or 4 or 9 or 16 or 25 or 36 or 49 or 64"},
		{OneOf(1, 2, 3, 4, 5, 6, 7, 8, 9), parser.POW, One(2), "any number"},
		{OneOf(1, 2, 3, 4, 5, 6, 7, 8, 9), parser.MOD, One(2), "any number"},
		{ratio, parser.MUL, One(100), "from 0 to 100"},
		{One(-100), parser.MUL, ratio, "from -100 to 0"},
		{ratio, parser.MUL, One(0), "any number"},
		{ratio, parser.DIV, One(2), "from 0 to 0.5"},
		{ratio, parser.DIV, One(0), "any number"},
		{One(2), parser.DIV, ratio, "any number"},
		{positive, parser.DIV, Between(1, 2), "at least 0"},
		{One(2), parser.DIV, Between(1, 2), "at least 0"},
		{One(-2), parser.DIV, ratio, "any number"},
		{ratio, parser.ADD, One(1), "from 1 to 2"},
		{One(1), parser.ADD, ratio, "from 1 to 2"},
		{ratio, parser.SUB, One(1), "from -1 to 0"},
		{One(1), parser.SUB, ratio, "from 0 to 1"},
		{One(math.Inf(1)), parser.SUB, Between(0, 1), "any number"},
		{One(math.Inf(-1)), parser.ADD, Between(0, 1), "any number"},
		{positive, parser.ADD, ratio, "at least 0"},
		{positive, parser.MUL, positive, "at least 0"},
		{positive, parser.DIV, ratio, "any number"},
		{positive, parser.SUB, ratio, "any number"},
		{positive, parser.POW, ratio, "any number"},
		{Any(), parser.ADD, positive, "any number"},
		{positive, parser.ADD, Any(), "any number"},
		{One(math.NaN()), parser.ADD, One(1), "NaN"},
		{ratio, parser.LAND, One(1), "any number"},
	} {
		if got := c.v.Calculated(c.op, c.w).String(); got != c.want {
			t.Errorf("%s %s %s = %s, want %s", c.v, c.op, c.w, got, c.want)
		}
	}
	if got := OneOf(3, 1).Hull().String(); got != "from 1 to 3" {
		t.Errorf("hull of 1 and 3 = %s, want from 1 to 3", got)
	}
	if got := One(math.NaN()).Hull(); !got.nan || len(got.spans) > 0 {
		t.Errorf("hull of NaN = %s, want NaN", got)
	}
}
