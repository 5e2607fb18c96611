package lint_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// manyRules returns a file with n rules of the states ready and alive, in the variants that
// rule files have: over few metrics, over metrics of their own, with guards, with tests of
// absence, with findings and with comments that accept them.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("groups:\n  - name: many\n    rules:\n")
	rule := func(i int, state, expr string) {
		fmt.Fprintf(&b, "      # vitals:accept V021 the name is sufficient\n      - alert: R%d\n        expr: '%s'\n        for: %ds\n        labels: {state: %s}\n", i, expr, 20+i%7, state)
	}
	for i := range n {
		switch i % 8 {
		case 0:
			rule(i, "ready", fmt.Sprintf(`vitals_dependency_up{dependency="d%d"} == 0`, i))
		case 1:
			rule(i, "alive", fmt.Sprintf(`app_queue_%d > %d`, i, i))
		case 2:
			rule(i, "ready", fmt.Sprintf(`app_queue_%d > %d`, i-1, i))
		case 3:
			rule(i, "alive", fmt.Sprintf(`vitals_component_alive{component="c%d"} == 0 unless on () vitals_dependency_up{dependency="keystone"} == 0`, i))
		case 4:
			rule(i, "ready", fmt.Sprintf(`vitals_component_alive{component="c%d"} == 0 or absent(vitals_component_alive{component="c%d"})`, i-1, i-1))
		case 5:
			fmt.Fprintf(&b, "      - {record: 'app:errors:%d', expr: 'sum by (path) (rate(app_errors_total{shard=\"%d\"}[5m]))'}\n", i, i)
		case 6:
			rule(i, "ready", fmt.Sprintf(`app:errors:%d / app_requests_%d > 0.1`, i-1, i))
		case 7:
			rule(i, "ready", fmt.Sprintf(`vitals_scrape_up{component="app"} == 0 and on () app_size > %d`, i))
		}
	}
	return b.String()
}

// oneRule returns a file with one rule. Its expression has n operands between operators.
func oneRule(operator string) func(n int) string {
	return func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, []string{
				fmt.Sprintf(`vitals_dependency_up{dependency="keystone"} > %d`, -i),
				fmt.Sprintf(`sum by (path) (rate(app_errors_total{shard="%d"}[5m])) > 1`, i),
				fmt.Sprintf(`absent(app_size_%d) == 1`, i),
				fmt.Sprintf(`app_queue{name="q%d"} > app_limit offset 5m`, i),
			}[i%4])
		}
		expr := strings.Join(parts, " "+operator+" ")
		return fmt.Sprintf("groups: [{name: g, rules: [{alert: A, expr: '%s', for: 1m, labels: {state: ready}, annotations: {summary: It is bad.}}]}]", expr)
	}
}

// manyFindings returns a file with one rule whose expression has n unknown labels.
func manyFindings(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf(`vitals_dependency_up{dependncy="d%d"} == 0`, i))
	}
	return fmt.Sprintf("groups: [{name: g, rules: [{alert: A, expr: '%s', for: 1m, labels: {state: ready}, annotations: {summary: It is bad.}}]}]", strings.Join(parts, " or "))
}

// chain returns a file with n recording rules, each of which uses the next one.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("groups:\n  - name: chain\n    rules:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - {record: 'r:%d', expr: 'r:%d + 1'}\n", i, i+1)
	}
	b.WriteString("      - {alert: A, expr: 'r:0 < 1', for: 30s, labels: {state: alive}, annotations: {summary: It is bad.}}\n")
	return b.String()
}

// maxNested is the largest n of nested: an expression may have 100 brackets in one another.
const maxNested = 48

// nested returns a file with one rule whose expression has n levels of two brackets.
func nested(n int) string {
	expr := strings.Repeat("abs(1 + (", n) + "app_queue" + strings.Repeat(" > 0))", n)
	return fmt.Sprintf("groups: [{name: g, rules: [{alert: A, expr: '%s', for: 1m, labels: {state: ready}, annotations: {summary: It is bad.}}]}]", expr)
}

// lintOnce parses a file, checks it and returns the CPU time of the checks.
func lintOnce(b *testing.B, text string) time.Duration {
	b.Helper()
	states := []string{"ready", "alive", "started"}
	f, mistakes := rules.Parse("f.yml", []byte(text), states)
	if len(mistakes) > 0 {
		b.Fatal(mistakes[0])
	}
	opts := lint.Options{Vocabulary: vocabulary(nil), States: states, Complete: true}
	runtime.GC()
	begin := collectortest.CPU(b)
	lint.Check([]*rules.File{f}, opts)
	return collectortest.CPU(b) - begin
}

// BenchmarkLintGrowth compares the time for four times the rules, and for four times the size of
// an expression. The ratio is 4 for a linear cost.
func BenchmarkLintGrowth(b *testing.B) {
	for _, bench := range []struct {
		name string
		make func(n int) string
		n    int
	}{
		{"rules", manyRules, 400},
		{"or", oneRule("or"), 200},
		{"and", oneRule("and on ()"), 200},
		{"unless", oneRule("unless"), 200},
		{"sum", oneRule("+"), 200},
		{"findings", manyFindings, 150},
		{"nested", nested, maxNested / 4},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const quadratic = 10 // a quadratic cost has the ratio 16, and the noise is large
			small, large := bench.make(bench.n), bench.make(4*bench.n)
			var times [2]time.Duration
			for b.Loop() {
				for i, text := range []string{small, large} {
					times[i] += lintOnce(b, text)
				}
			}
			ratio := float64(times[1]) / float64(times[0])
			b.ReportMetric(ratio, "4n/n")
			if ratio > quadratic {
				b.Errorf("four times the size costs %.1f times as much, want about 4", ratio)
			}
			b.ReportMetric(float64(times[1].Milliseconds())/float64(b.N), "ms-cpu/4n")
		})
	}
}
