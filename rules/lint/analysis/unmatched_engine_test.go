package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
	"github.com/vitals-health/vitals/rules/lint/analysis"
)

// Prometheus' engine evaluates random operations between random sides over random data.
// Where lint reports that the sides never match, an "and" has no result, and an "unless"
// has all samples of its left side.
func TestUnmatchedAgainstTheEngine(t *testing.T) {
	const now = 1_700_000_000_000
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 30 * time.Second,
		NoStepSubqueryIntervalFn: func(int64) int64 { return 10_000 },
	})
	// The labels of the metrics are known, or only what the expressions do with them.
	vocabularies := []*analysis.Vocabulary{{Configured: true, Metrics: labelled()}, nil}
	c := labelComposer{composer{rand.New(rand.NewPCG(15, 16))}}
	count := func(expr string, seed int) int {
		result, err := instant(engine, world(uint64(seed), now, ""), expr, now)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		return len(result)
	}
	claimed, results := map[bool]int{}, 0
	for i := range 2000 {
		v := vocabularies[i%2]
		left, right := c.vector(1+c.IntN(2)), c.vector(1+c.IntN(2))
		on := c.one("", "", "on ("+c.labels()+")", "ignoring ("+c.labels()+")")
		both := fmt.Sprintf("%s and %s %s", left, on, right)
		f, mistakes := rules.Parse("f.yml", fmt.Appendf(nil, "groups: [{name: g, rules: [{alert: A, expr: %q}]}]", both), nil)
		if len(mistakes) > 0 || !unmatched(t, v, f) {
			continue
		}
		claimed[v != nil]++
		for i := range 5 {
			if _, err := instant(engine, world(uint64(i), now, ""), both, now); err != nil {
				continue // such as many-to-many matching within a side
			}
			if n := count(both, i); n > 0 {
				t.Fatalf("%s has %d results, want none", both, n)
			}
			rest, all := count(fmt.Sprintf("%s unless %s %s", left, on, right), i), count(left, i)
			if results += all; rest != all {
				t.Fatalf("%s unless %s %s has %d results, want %d", left, on, right, rest, all)
			}
		}
	}
	t.Logf("%v claims, %d results", claimed, results)
	if claimed[true] < 100 || claimed[false] < 50 || results < 500 {
		t.Errorf("%v claims with %d results, want enough to mean something", claimed, results)
	}
}

// unmatched reports whether lint finds that the sides of the operator at the top of the only
// rule never match.
func unmatched(t *testing.T, v *analysis.Vocabulary, f *rules.File) bool {
	t.Helper()
	top := f.Groups[0].Rules[0].AST.(*parser.BinaryExpr)
	line, col := f.PlaceInExpr(&f.Groups[0].Rules[0], top.PositionRange().Start)
	for _, found := range lint.Check([]*rules.File{f}, lint.Options{Vocabulary: v}) {
		if found.Line == line && found.Col == col && strings.HasPrefix(found.Text, "the rule never fires: no label set") {
			return true
		}
	}
	return false
}
