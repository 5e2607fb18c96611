package analysis_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
	"github.com/vitals-health/vitals/rules/lint/analysis"
)

// measured holds the metrics of random expressions and their possible values. Each has the
// labels n=1 and n=2; half of them also have m=1.
func measured() map[string][]float64 {
	return map[string][]float64{
		"vitals_a":                   {0, 1},
		"vitals_b":                   {0, 1},
		"vitals_c_timestamp_seconds": {0, 1, 2, 1e9},
		"vitals_d":                   {-2, -1, 0, 0.5, 1, 2, 3, 100, math.NaN()},
	}
}

func measuredVocabulary() *analysis.Vocabulary {
	v := &analysis.Vocabulary{Configured: true}
	for name, values := range measured() {
		v.Metrics = append(v.Metrics, analysis.Metric{
			Name: name, Type: model.MetricTypeGauge, Labels: map[string][]string{"n": {"1", "2"}, "m": {"", "1"}},
			Collector: "c", Kind: "k", Interval: 10 * time.Second, Bool: len(values) == 2,
		})
	}
	return v
}

// composer creates random expressions from few parts, so that contradictions are frequent.
type composer struct{ *rand.Rand }

func (c composer) one(of ...string) string { return of[c.IntN(len(of))] }

func (c composer) scalar(depth int) string {
	if depth == 0 || c.IntN(3) > 0 {
		return c.one("0", "1", "1", "2", "-1", "0.5", "3", "NaN", "1e9", "-Inf")
	}
	switch c.IntN(4) {
	case 0:
		return "scalar(" + c.vector(depth-1) + ")"
	case 1:
		return "-(" + c.scalar(depth-1) + ")"
	case 2:
		return fmt.Sprintf("(%s %s bool %s)", c.scalar(depth-1), c.comparison(), c.scalar(depth-1))
	}
	return fmt.Sprintf("(%s %s %s)", c.scalar(depth-1), c.one("+", "-", "*", "/", "%", "^"), c.scalar(depth-1))
}

func (c composer) comparison() string { return c.one("==", "!=", ">", "<", ">=", "<=") }

func (c composer) selector() string {
	name := c.one("vitals_a", "vitals_a", "vitals_b", "vitals_c_timestamp_seconds", "vitals_d", `{__name__=~"vitals_(a|b)"`)
	matchers := c.one("", "", "", `n="1"`, `n="2"`, `n=~"1|2"`, `n!="1"`, `n=~"1|2",n!="1"`, `n="1",n="2"`, `n!~".*"`)
	if strings.HasPrefix(name, "{") {
		return strings.TrimSuffix(name+","+matchers, ",") + "}"
	}
	return name + "{" + matchers + "}"
}

func (c composer) vector(depth int) string {
	if depth == 0 {
		return c.selector() + c.one("", "", "", "", " offset 1m")
	}
	a := c.vector(depth - 1)
	b := a // a repeated part often contradicts itself
	if c.IntN(2) == 0 {
		b = c.vector(depth - 1)
	}
	on := c.one("", "", "", "on ()", "on (n)", "ignoring (n)", "ignoring (m)")
	switch c.IntN(12) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", a, c.comparison(), c.scalar(depth-1))
	case 3:
		return fmt.Sprintf("(%s %s %s)", c.scalar(depth-1), c.one("==", "!=", ">", "<", "+", "-", "*", "== bool", "< bool"), a)
	case 4:
		return fmt.Sprintf("(%s %s %s %s)", a, c.one("==", "!=", ">", "<", ">=", "<=", "== bool", "> bool", "+", "-", "*", "/"), on, b)
	case 5, 6:
		left, right := fmt.Sprintf("%s %s %s", a, c.comparison(), c.scalar(0)), fmt.Sprintf("%s %s %s", b, c.comparison(), c.scalar(0))
		return fmt.Sprintf("(%s %s %s %s)", left, c.one("and", "or", "unless"), on, right)
	case 7:
		return fmt.Sprintf("(%s %s %s %s)", a, c.one("and", "or", "unless"), on, b)
	case 8:
		return fmt.Sprintf("%s%s(%s)", c.one("sum", "count", "min", "max", "avg", "group", "stddev"), c.one("", " by (n)", " without (n)"), a)
	case 9:
		function := c.one("min", "max", "avg", "sum", "count", "last", "present", "stddev", "absent") + "_over_time"
		return fmt.Sprintf("%s(%s%s)", c.one(function, function, "changes", "rate", "resets", "delta"), c.selector(), c.one("[1m]", "[2m:10s]"))
	case 10:
		return fmt.Sprintf("%s(%s)", c.one("absent", "abs", "-", "sgn", "timestamp", "sqrt", "ceil", "exp"), a)
	}
	return c.one("vector("+c.scalar(depth-1)+")", "absent("+a+")", "clamp_min("+a+", 1)", "clamp_max("+a+", 1)", `label_replace(`+a+`, "n", "3", "", "")`,
		"topk(1, "+a+")", "quantile(0.5, "+a+")", "hour()", "("+a+")")
}

// data fills a window with five minutes of random values. Complete data has every series in
// every collection, and no NaN.
func data(r *rand.Rand, now int64, complete bool) *window.Window {
	w := window.New()
	w.SetRetention(nil, 10*time.Minute)
	s := w.Source()
	for t := now - 300_000; t <= now; t += 10_000 {
		s.Begin(t)
		for _, name := range []string{"vitals_a", "vitals_b", "vitals_c_timestamp_seconds", "vitals_d"} {
			for _, n := range []string{"1", "2"} {
				values := measured()[name]
				v := values[r.IntN(len(values))]
				if complete && (math.IsNaN(v)) {
					v = 7
				}
				if complete || r.IntN(4) > 0 {
					l := labels.FromStrings(model.MetricNameLabel, name, "n", n)
					if name == "vitals_b" || name == "vitals_d" {
						l = labels.FromStrings(model.MetricNameLabel, name, "n", n, "m", "1")
					}
					if err := s.Add(l, v, 0); err != nil {
						panic(err)
					}
				}
			}
		}
		s.End()
	}
	return w
}

// Prometheus' engine evaluates random expressions over random data. Expressions reported as
// never firing have no result, and those reported as always firing have one.
func TestFiringAgainstTheEngine(t *testing.T) {
	const now = 1_700_000_000_000
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 30 * time.Second,
		NoStepSubqueryIntervalFn: func(int64) int64 { return 10_000 }, EnableAtModifier: true, EnableNegativeOffset: true,
	})
	r := rand.New(rand.NewPCG(1, 2))
	var worlds, complete []*window.Window
	for range 10 {
		worlds = append(worlds, data(r, now, false))
		complete = append(complete, data(r, now, true))
	}
	checked := map[string]int{}
	for range 800 {
		expr := composer{r}.vector(1 + r.IntN(3))
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		if err != nil {
			t.Fatalf("ParseExpr(%s) = %v", expr, err)
		}
		for _, claim := range claims(t, expr) {
			checked[claim]++
			windows := worlds
			if claim == "as soon as" {
				windows = complete
			}
			for i, w := range windows {
				result, err := instant(engine, w, expr, now)
				if err != nil || len(result) > 0 == (claim != "never") {
					continue
				}
				t.Fatalf("%s: the claim is %q, and in world %d it yields %v", parsed, claim, i, result)
			}
		}
	}
	t.Log(checked)
	for _, claim := range []string{"never", "always", "as soon as"} {
		if checked[claim] < 10 {
			t.Errorf("%d claims %q, want enough to mean something", checked[claim], claim)
		}
	}
}

// claims returns the findings about the whole expression.
func claims(t *testing.T, expr string) []string {
	t.Helper()
	text := fmt.Sprintf("groups: [{name: g, rules: [{alert: A, expr: %q, labels: {state: ready}}]}]", expr)
	states := []string{"ready", "alive", "started"}
	f, mistakes := rules.Parse("f.yml", []byte(text), states)
	if len(mistakes) > 0 {
		return nil // a comparison with bool at the top
	}
	var all []string
	for _, f := range lint.Check([]*rules.File{f}, lint.Options{Vocabulary: measuredVocabulary(), States: states}) {
		switch {
		case strings.HasPrefix(f.Text, "the rule never fires"):
			all = append(all, "never")
		case strings.HasPrefix(f.Text, "the rule always fires"):
			all = append(all, "always")
		case strings.HasPrefix(f.Text, "the rule fires as soon as"):
			all = append(all, "as soon as")
		}
	}
	return all
}

func instant(engine *promql.Engine, w *window.Window, expr string, at int64) (promql.Vector, error) {
	q, err := engine.NewInstantQuery(context.Background(), w, nil, expr, time.UnixMilli(at))
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(context.Background())
	if result.Err != nil {
		return nil, result.Err
	}
	return result.Vector()
}
