package ruletest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/ruletest"
)

// What a test file costs is bounded before it is spent. A mistake names the file, the line, the
// cause and the cure.
func TestBoundsOfATestFile(t *testing.T) {
	series := func(values string, n int) string {
		var b strings.Builder
		b.WriteString("tests:\n- input_series:\n")
		for i := range n {
			fmt.Fprintf(&b, "  - {series: 'up{n=\"%d\", x=\"0x1000000000\"}', values: '%s'}\n", i, values)
		}
		return b.String()
	}
	until := func(interval, at string) string {
		return "evaluation_interval: " + interval + "\ntests:\n- promql_expr_test:\n  - {expr: '1', eval_time: " + at + ", exp_samples: [{value: 1}]}\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a long series", series("0x1000000000", 1), "test.yml:3:53: tests[0].input_series[0].values: series of more than 1000000 points, expected at most as many: repeat values fewer times, or give the test a longer interval"},
		{"more than fits into a number", series("0x99999999999999999999", 1), "series of more than 1000000 points"},
		{"with a step", series("1+2x1000001", 1), "series of more than 1000000 points"},
		{"without values", series("_x1000001", 1), "series of more than 1000000 points"},
		{"several parts", series("0x600000 1x600000", 1), "series of more than 1000000 points"},
		{"histograms", series("{{count:1}}x1000001", 1), "series of more than 1000000 points"},
		{"values in the series", "tests: [{input_series: [{series: up 0x1000000000, values: ''}]}]", "series of more than 1000000 points"},
		{"many series", series("0x999999", 11), "test.yml:13:54: tests[0].input_series[10].values: input series of more than 10000000 points in the file, expected at most as many: split the file, or give longer intervals"},
		{"many evaluations", until("1ms", "100y"), "test.yml:4:28: tests[0].promql_expr_test[0].eval_time: the tests up to this time have 3153600000001 evaluations of the interval 1ms, expected at most 1000000: give an earlier eval_time, a longer evaluation_interval, or split the file"},
		{"many tests", until("1s", "11d") + "- promql_expr_test:\n  - {expr: '1', eval_time: 1d, exp_samples: [{value: 1}]}\n", "test.yml:6:28: tests[1].promql_expr_test[0].eval_time: the tests up to this time have 1036802 evaluations of the interval 1s"},
		{"a nested expression", "tests: [{promql_expr_test: [{expr: '" + strings.Repeat("(", 100_000) + "'}]}]", "expression of 100000 bytes, expected at most 65536"},
		{"nested brackets", "tests: [{promql_expr_test: [{expr: '" + strings.Repeat("(", 101) + "'}]}]", "test.yml:1:137: tests[0].promql_expr_test[0].expr: not valid PromQL: nested deeper than 100 levels: split it with recording rules"},
		{"nested YAML", "tests: " + strings.Repeat("[", 5000), "test.yml"},
		{"aliases", "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + aliases(9) + "tests: []\n", "aliases make the file larger than 16 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := written(t, map[string]string{"test.yml": tt.text}, ruletest.Options{})
			if len(r.Mistakes) == 0 || !strings.Contains(r.Mistakes[0].Error(), tt.want) {
				t.Errorf("mistakes = %.500v, want %q", r.Mistakes, tt.want)
			}
			if len(r.Mistakes) > 1 && tt.name != "aliases" && tt.name != "nested YAML" {
				t.Errorf("there are %d mistakes, want one", len(r.Mistakes))
			}
		})
	}
}

// aliases returns keys of which each has ten times the size of the one before.
func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		one := fmt.Sprintf("*%c", 'a'+i)
		fmt.Fprintf(&b, "%c: &%c [%s]\n", 'b'+i, 'b'+i, strings.Join([]string{one, one, one, one, one, one, one, one, one, one}, ","))
	}
	return b.String()
}

// A day in seconds passes: 86,400 points and evaluations.
func TestADayInSeconds(t *testing.T) {
	r := written(t, map[string]string{"test.yml": `
evaluation_interval: 1s
tests:
  - interval: 1s
    input_series:
      - {series: a, values: 0+1x86399}
      - {series: b, values: 1x86399}
    promql_expr_test:
      - {expr: a + b, eval_time: 86399s, exp_samples: [{value: 86400}]}
`}, ruletest.Options{})
	if outcome(r) != "pass" {
		t.Errorf("%s", output(r))
	}
}

// Few evaluations are many with many rules or many expectations.
func TestBoundsOfProducts(t *testing.T) {
	rules := "groups:\n- name: g\n  rules:\n" + strings.Repeat("  - {record: x, expr: '1'}\n", 150)
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := func(expectations int, at string) string {
		return "rule_files: [" + path + "]\nevaluation_interval: 1s\ntests:\n- promql_expr_test:\n" +
			strings.Repeat("  - {expr: '1', eval_time: "+at+"}\n", expectations)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"many rules", tests(1, "10d"), "test.yml:5:28: tests[0].promql_expr_test[0].eval_time: the tests up to this time have 864001 evaluations of 150 rules, expected at most 100000000"},
		{"many expectations", tests(2000, "6d"), "test.yml:4:3: tests[0]: the tests up to this one have 1036802000 expectations times evaluations, expected at most 1000000000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := written(t, map[string]string{"test.yml": tt.text, path: rules}, ruletest.Options{})
			if len(r.Mistakes) != 1 || !strings.Contains(r.Mistakes[0].Error(), tt.want) {
				t.Errorf("mistakes = %.500v, want one: %q", r.Mistakes, tt.want)
			}
		})
	}
}
