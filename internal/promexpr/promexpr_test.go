package promexpr_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

func parse(t *testing.T, text string) parser.Expr {
	t.Helper()
	e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMetricName(t *testing.T) {
	for text, want := range map[string]string{
		`up`: "up", `{__name__="up"}`: "up", `{"a.b"}`: "a.b", `up{job="x"}`: "up",
		`{job="x"}`: "", `{__name__=~"up|down"}`: "", `{__name__!="up",job="x"}`: "",
	} {
		if got := promexpr.MetricName(parse(t, text).(*parser.VectorSelector)); got != want {
			t.Errorf("MetricName(%s) = %q, want %q", text, got, want)
		}
	}
}

func TestConstant(t *testing.T) {
	for text, want := range map[string]float64{
		"5": 5, "((5))": 5, "-5": -5, "+(5)": 5, "5 * 60": 300, "1 + 2 - 4": -1, "1 / 4": 0.25,
		"2 ^ 10": 1024, "7 % 4": 3, "0 atan2 1": 0, "Inf": math.Inf(1), "-(2 ^ 3)": -8,
	} {
		if got, ok := promexpr.Constant(parse(t, text)); !ok || got != want {
			t.Errorf("Constant(%s) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"up", "time()", "vector(1)", "1 + scalar(up)", "NaN", "0 / 0", "1 == bool 1", "sum(up) * 2"} {
		if got, ok := promexpr.Constant(parse(t, text)); ok {
			t.Errorf("Constant(%s) = %v, want none", text, got)
		}
	}
}

func TestBare(t *testing.T) {
	e := &parser.StepInvariantExpr{Expr: parse(t, "((up))")}
	if got := promexpr.Bare(e).String(); got != "up" {
		t.Errorf("Bare() = %s, want up", got)
	}
}

func TestWithConstant(t *testing.T) {
	for text, want := range map[string]string{
		"up == 0": "up == 0", "0 == up": "up == 0", "2 < up": "up > 2", "(1 + 1) >= (up)": "(up) <= 2",
		"3 > up": "up < 3", "4 <= up": "up >= 4", "up != bool -1": "up != -1",
		"up == down": "none", "up + 1": "none", "up > scalar(down)": "none", "up and down": "none",
	} {
		got := "none"
		if c, ok := promexpr.WithConstant(parse(t, text).(*parser.BinaryExpr)); ok {
			got = fmt.Sprintf("%s %s %v", c.Expr, c.Op, c.Limit)
		}
		if got != want {
			t.Errorf("WithConstant(%s) = %s, want %s", text, got, want)
		}
	}
}

// A comparison and its mirror image agree on all pairs of numbers.
func TestMirror(t *testing.T) {
	numbers := []float64{-1, 0, 1, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, op := range []parser.ItemType{parser.EQLC, parser.NEQ, parser.LSS, parser.LTE, parser.GTR, parser.GTE} {
		for _, x := range numbers {
			for _, y := range numbers {
				if promexpr.Holds(op, x, y) != promexpr.Holds(promexpr.Mirror(op), y, x) {
					t.Errorf("%v %s %v differs from %v %s %v", x, op, y, y, promexpr.Mirror(op), x)
				}
			}
		}
	}
	if promexpr.Holds(parser.ADD, 1, 1) || !promexpr.Holds(parser.LTE, 1, 1) || promexpr.Holds(parser.LSS, 1, 1) {
		t.Error("Holds() accepts an operator that is no comparison, or mistakes < for <=")
	}
}
