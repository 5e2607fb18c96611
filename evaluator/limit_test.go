package evaluator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"
)

func TestLimitOf(t *testing.T) {
	for expr, want := range map[string]*Limit{
		"up == 0":                         {"==", 0},
		"up != 4":                         {"!=", 4},
		"time() - a > 60":                 {">", 60},
		"a >= 14 * 86400":                 {">=", 14 * 86400},
		"a - time() < (14 + 1) * 2 - 6/3": {"<", 28},
		"(a <= -1)":                       {"<=", -1},
		"a > +1":                          {">", 1},
		"0 == a":                          {"==", 0},
		"0 != a":                          {"!=", 0},
		"1 < a":                           {">", 1},
		"1 <= a":                          {">=", 1},
		"1 > a":                           {"<", 1},
		"1 >= a":                          {"<=", 1},
		"a > b":                           nil,
		"a > bool 1":                      nil,
		"a > on () group_left () b":       nil,
		"a > 1 or b > 1":                  nil,
		"a":                               nil,
		"a - 1":                           nil,
		"absent(a)":                       nil,
		"a > 2 ^ 2":                       {">", 4},
		"a > time()":                      nil,
		"a > 0 / 0":                       nil,
	} {
		e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, limitOf(e)); diff != "" {
			t.Errorf("limitOf(%s) (-want +got):\n%s", expr, diff)
		}
	}
}

// Of two values the nearer one is on the failing side, or less far from it.
func TestNearer(t *testing.T) {
	for _, tt := range []struct {
		op              string
		value, other    float64
		nearer, reverse bool
	}{
		{">", 2, 1, true, false}, {">=", 2, 1, true, false}, {"<", 2, 1, false, true}, {"<=", 2, 1, false, true},
		{"==", 5, 1, true, false}, {"==", 7, 3, false, false}, {"!=", 5, 1, false, true}, {">", 2, 2, false, false},
	} {
		l := Limit{tt.op, 5}
		if got, back := l.Nearer(tt.value, tt.other), l.Nearer(tt.other, tt.value); got != tt.nearer || back != tt.reverse {
			t.Errorf("%s 5: Nearer(%g, %g) = %t, and the other way %t, want %t, %t", tt.op, tt.value, tt.other, got, back, tt.nearer, tt.reverse)
		}
	}
}
