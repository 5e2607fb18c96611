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
