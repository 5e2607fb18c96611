package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

func TestExcesses(t *testing.T) {
	tests := []struct {
		name, given string
		step        time.Duration
		want        []string
	}{
		{"a month of milliseconds", "max_over_time(x[30d:1ms])", 0, []string{"subquery of 2592000000 steps of 1ms, expected at most 100000: give a shorter range, or a step of at least 26s"}},
		{"a day of milliseconds", "max_over_time(x[1d:1ms]) > 0", 0, []string{"subquery of 86400000 steps of 1ms, expected at most 100000: give a shorter range, or a step of at least 1s"}},
		{"a month of minutes", "max_over_time(x[30d:1m])", 0, nil},
		{"a day of seconds", "max_over_time(rate(x[5m])[1d:1s])", 0, nil},
		{"no step", "max_over_time(x[30d:])", 0, nil},
		{"no step, with a short interval", "max_over_time(x[30d:])", time.Second, []string{"subquery of 2592000 steps of 1s, expected at most 100000: give a shorter range, or a step of at least 26s"}},
		{"a computed step", "max_over_time(x[1d:1s / 10])", 0, []string{"subquery of 864000 steps of 100ms, expected at most 100000: give a shorter range, or a step of at least 1s"}},
		{"inner steps over the outer range", "max_over_time(max_over_time(x[1m:100ms])[1d:1h])", 0, []string{"subquery of 864600 steps of 100ms, expected at most 100000: give a shorter range, or a step of at least 1s"}},
		{"two levels", "max_over_time(rate(x[5m])[1d:1m]) > avg_over_time(max_over_time(x[1h:1m])[1d:5m])", 0, nil},
		{"windows in each other", "max_over_time(max_over_time(x[30d:1m])[30d:1m])", 0, []string{"expression that reads 1.9e+09 points of a series, expected at most 1e+08: give shorter ranges or longer steps"}},
		{"a long range at every step", "max_over_time(rate(x[30d])[30d:1m])", 0, []string{"expression that reads 1.1e+10 points of a series, expected at most 1e+08: give shorter ranges or longer steps"}},
		{"many subqueries", strings.Repeat("max_over_time(x[1d:1s]) + ", 1200) + "1", 0, []string{"expression that reads 1e+08 points of a series, expected at most 1e+08: give shorter ranges or longer steps"}},
		{"a year", "increase(x[365d]) > 0 and y offset 1y > 0", 0, nil},
		{"two years", "increase(x[2y]) > 0", 0, []string{"selector that reads 730 days back, expected at most 400: give shorter ranges and offsets"}},
		{"a range that wraps around", "sum_over_time(max_over_time(x[290y])[290y:1y])", 0, []string{"selector that reads 211700 days back, expected at most 400: give shorter ranges and offsets"}},
		{"an offset", "x offset 401d", 0, []string{"selector that reads 401 days back, expected at most 400: give shorter ranges and offsets"}},
		{"deep", deep(4), 0, nil},
		{"too deep", deep(5), 0, []string{"5 subqueries in each other, expected at most 4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expr, err := promexpr.Parse(tt.given)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range rules.Excesses(expr, tt.step) {
				got = append(got, e.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Excesses() differ (-want +got):\n%s", diff)
			}
		})
	}
}

// deep returns an expression with subqueries in each other.
func deep(levels int) string {
	return strings.Repeat("max_over_time(", levels) + "x" + strings.Repeat("[2m:1m])", levels)
}

// The mistake has its place, also in the query of a template.
func TestExcessesHaveTheirPlace(t *testing.T) {
	const given = `groups:
  - name: g
    rules:
      - alert: A
        expr: |
          up == 0 and
          max_over_time(x[30d:1ms]) > 0
        annotations:
          summary: peak {{ query "max_over_time(x[1d:1ms])" | first | value }}
          format: peak {{ printf "max_over_time(x{a=%q}[1d:1ms])" $labels.a | query | first | value }}
`
	want := []string{
		`f.yml:7:25: group "g", rule "A", expr: subquery of 2592000000 steps of 1ms, expected at most 100000: give a shorter range, or a step of at least 26s`,
		`f.yml:9:35: group "g", rule "A", annotations.summary: query of the template: subquery of 86400000 steps of 1ms, expected at most 100000: give a shorter range, or a step of at least 1s`,
		`f.yml:10:35: group "g", rule "A", annotations.format: query of the template: subquery of 86400000 steps of 1ms, expected at most 100000: give a shorter range, or a step of at least 1s`,
	}
	_, errs := rules.Parse("f.yml", []byte(given), nil)
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse() differs (-want +got):\n%s", diff)
	}
}
