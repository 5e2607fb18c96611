package rules_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

func TestRetention(t *testing.T) {
	const lookback = 30 * time.Second
	minutes := func(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }
	tests := []struct {
		name  string
		exprs []string
		want  map[string]time.Duration
		rest  time.Duration
	}{
		{"instant selector", []string{"a == 0"}, map[string]time.Duration{}, 0},
		{"range", []string{"rate(a[5m])"}, map[string]time.Duration{"a": minutes(5)}, 0},
		{"offset", []string{"a offset 2m"}, map[string]time.Duration{"a": minutes(2.5)}, 0},
		{"range with an offset", []string{"rate(a[5m] offset 2m)"}, map[string]time.Duration{"a": minutes(7)}, 0},
		{"negative offset", []string{"a offset -2m + rate(b[5m] offset -2m)"}, map[string]time.Duration{"b": minutes(5)}, 0},
		{"largest of several", []string{"rate(a[1m]) > rate(a[4m])", "rate(a[2m]) + b"}, map[string]time.Duration{"a": minutes(4)}, 0},
		{"subquery of an instant selector", []string{"max_over_time(a[10m:1m])"}, map[string]time.Duration{"a": minutes(10.5)}, 0},
		{"subquery of a range", []string{"max_over_time(rate(a[5m])[10m:])"}, map[string]time.Duration{"a": minutes(15)}, 0},
		{"subquery with offsets inside and outside", []string{"max_over_time((a offset 1m)[10m:1m] offset 3m)"}, map[string]time.Duration{"a": minutes(14.5)}, 0},
		{"subquery in a subquery", []string{"max_over_time(min_over_time(a[2m:1m])[10m:1m])"}, map[string]time.Duration{"a": minutes(12.5)}, 0},
		{"subquery beside a selector", []string{"a > max_over_time(b[10m:1m])"}, map[string]time.Duration{"b": minutes(10.5)}, 0},
		{"pinned in time", []string{"a @ 1000 + rate(b[5m] @ end())"}, map[string]time.Duration{"b": minutes(5)}, 0},
		{"name as a label", []string{`rate({__name__="a"}[5m])`, `rate({"b.c"}[1m])`}, map[string]time.Duration{"a": minutes(5), "b.c": minutes(1)}, 0},
		{"no name", []string{`rate({job="x"}[5m])`, "rate(a[1m])"}, map[string]time.Duration{"a": minutes(1)}, minutes(5)},
		{"name as a regular expression", []string{`rate({__name__=~"a|b"}[5m] offset 1m)`}, map[string]time.Duration{}, minutes(6)},
		{"no name, instant", []string{`{job="x"}`}, map[string]time.Duration{}, 0},
		{"computed durations", []string{"rate(a[1m * 2] offset (2m / 2)) + max_over_time(b[2 * 5m:1m])"}, map[string]time.Duration{"a": minutes(3), "b": minutes(10.5)}, 0},
		{"no selector", []string{"time() > bool 5"}, map[string]time.Duration{}, 0},
		{"inside functions and aggregations", []string{`sum by (x) (topk(scalar(a offset 1m), -(increase(b[3m]))))`},
			map[string]time.Duration{"a": minutes(1.5), "b": minutes(3)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var exprs []parser.Expr
			for _, text := range tt.exprs {
				e, err := promexpr.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				exprs = append(exprs, e)
			}
			got, rest := rules.Retention(exprs, lookback)
			if diff := cmp.Diff(tt.want, got); diff != "" || rest != tt.rest {
				t.Errorf("Retention() rest = %s, want %s; differs (-want +got):\n%s", rest, tt.rest, diff)
			}
		})
	}
}
