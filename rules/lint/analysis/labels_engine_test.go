package analysis_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/shapes"
)

// labelled holds the metrics of random expressions over labels. The collectors one and two
// export each of them with their number as the label x.
func labelled() []analysis.Metric {
	var all []analysis.Metric
	for _, m := range []struct {
		name   string
		labels map[string][]string
	}{
		{"vitals_a", map[string][]string{"y": {"1", "2"}}},
		{"vitals_b", map[string][]string{"y": {"2", "3"}, "z": {"", "9"}}},
		{"vitals_c", nil},
	} {
		for x, collector := range []string{"one", "two"} {
			with := map[string][]string{"x": {fmt.Sprint(x + 1)}}
			for label, values := range m.labels {
				with[label] = values
			}
			all = append(all, analysis.Metric{Name: m.name, Type: model.MetricTypeGauge, Labels: with, Collector: collector, Kind: "k"})
		}
	}
	return all
}

// labelComposer creates random expressions that add, drop and match labels.
type labelComposer struct{ composer }

func (c labelComposer) labels() string { return c.one("", "x", "y", "z", "x, y", "y, z", "x, y, z") }

func (c labelComposer) selector() string {
	matcher := func() string {
		return c.one("x", "y", "z") + c.one(`="1"`, `="2"`, `=""`, `!="1"`, `!=""`, `=~"1|9"`, `!~"2|3"`)
	}
	return c.one("vitals_a", "vitals_b", "vitals_c") + c.one("", "", "{"+matcher()+"}", "{"+matcher()+", "+matcher()+"}")
}

func (c labelComposer) vector(depth int) string {
	if depth == 0 {
		return c.selector()
	}
	a, b := c.vector(depth-1), c.vector(depth-1)
	label := c.one("x", "y", "z", "w")
	switch c.IntN(12) {
	case 0, 1:
		return fmt.Sprintf("%s %s (%s) (%s)", c.one("sum", "min", "count", "group"), c.one("by", "without"), c.labels(), a)
	case 2:
		return fmt.Sprintf("(%s %s %s(%s) %s)", a, c.one("+", "-", "<=", ">= bool"), c.one("on", "ignoring"), c.labels(), b)
	case 3:
		return fmt.Sprintf("(%s %s %s(%s) group_%s(%s) %s)", a, c.one("+", "<="), c.one("on", "ignoring"), c.one("x", "y", ""), c.one("left", "right"), c.one("", "z"), b)
	case 10: // unique on one side, so that it matches
		on, group := c.one("x", "y", "z"), c.one("x", "y", "z")
		one := fmt.Sprintf("sum by (%s) (%s)", on, a)
		if group != on {
			one = fmt.Sprintf("topk by (%s) (1, sum by (%s, %s) (%s))", on, on, group, a)
		}
		if group == on {
			group = ""
		}
		if c.IntN(2) == 0 {
			return fmt.Sprintf("(%s %s on (%s) group_right (%s) %s)", one, c.one("+", "<="), on, group, b)
		}
		return fmt.Sprintf("(%s %s on (%s) group_left (%s) %s)", b, c.one("+", "<="), on, group, one)
	case 4, 5:
		return fmt.Sprintf("(%s %s %s %s)", a, c.one("and", "or", "unless"), c.one("", "on ("+c.labels()+")", "ignoring ("+c.labels()+")"), b)
	case 6:
		return fmt.Sprintf(`label_replace(%s, "%s", "%s", "%s", "(.*)")`, a, label, c.one("$1", "1", "7", ""), c.one("x", "y", "z"))
	case 7:
		return fmt.Sprintf(`label_join(%s, "%s", "", "%s", "%s")`, a, label, c.one("x", "y"), c.one("y", "z"))
	case 8:
		return fmt.Sprintf(`count_values %s ("%s", %s)`, c.one("", "by ("+c.labels()+")", "without ("+c.labels()+")"), label, a)
	case 9:
		return c.one("topk(1, "+a+")", "bottomk by (x) (1, "+a+")", "absent("+c.selector()+")", "absent_over_time("+c.selector()+"[1m])", "vector(1)")
	}
	return c.one("abs("+a+")", "-("+a+")", "max_over_time("+c.selector()+"[1m])", "("+a+" < 3)", "(2 * "+a+")",
		"vector(scalar("+a+"))", "sum_over_time("+a+"[1m:10s])", "timestamp("+a+")")
}

// world fills a window with one collection. Some series are missing, and all series of the
// collector without.
func world(seed uint64, now int64, without string) *window.Window {
	r := rand.New(rand.NewPCG(seed, 3))
	w := window.New()
	s := w.Source()
	s.Begin(now)
	add := func(m analysis.Metric, y, z string) {
		value, missing := float64(r.IntN(3)), r.IntN(3) == 0
		if missing || m.Collector == without {
			return
		}
		ls := labels.NewBuilder(labels.FromStrings(model.MetricNameLabel, m.Name, "x", m.Labels["x"][0]))
		if err := s.Add(ls.Set("y", y).Set("z", z).Labels(), value, 0); err != nil {
			panic(err)
		}
	}
	for _, m := range labelled() {
		for _, y := range append(slices.Clone(m.Labels["y"]), "")[:max(1, len(m.Labels["y"]))] {
			for _, z := range append(slices.Clone(m.Labels["z"]), "")[:max(1, len(m.Labels["z"]))] {
				add(m, y, z)
			}
		}
	}
	s.End()
	return w
}

// The result of an expression has only the labels and values that lint considers possible.
// If the series of a collector change a recorded series that is used, lint considers the
// rule dependent on that collector.
func TestLabelsAgainstTheEngine(t *testing.T) {
	const now = 1_700_000_000_000
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 30 * time.Second,
		NoStepSubqueryIntervalFn: func(int64) int64 { return 10_000 },
	})
	v := &analysis.Vocabulary{Configured: true, Metrics: labelled()}
	c := labelComposer{composer{rand.New(rand.NewPCG(5, 6))}}
	results, reached, spared := 0, 0, 0
	for i := range 3000 {
		expr := c.vector(1 + c.IntN(4))
		matchers := c.one("", `x="1"`, `x="2"`, `y="2"`, `x!="1"`, `w="7"`, `x=""`)
		f, mistakes := rules.Parse("f.yml", fmt.Appendf(nil, "groups: [{name: g, rules: [{record: r, expr: %q}, {alert: A, expr: %q}]}]", expr, "r{"+matchers+"}"), nil)
		if len(mistakes) > 0 {
			continue // such as a label in on() and in group_left()
		}
		record, alert := &f.Groups[0].Rules[0], &f.Groups[0].Rules[1]
		full, err := instant(engine, world(uint64(i%20), now, ""), expr, now)
		if err != nil {
			continue // such as many-to-many matching
		}
		can, known := resultLabels(v, []*rules.File{f}, record.AST)
		if !known {
			t.Fatalf("%s: nothing is known of its labels, want all", expr)
		}
		for _, s := range full {
			results++
			s.Metric.Range(func(l labels.Label) {
				values, ok := can[l.Name]
				if l.Name != model.MetricNameLabel && (!ok || values != nil && !slices.Contains(values, l.Value)) {
					t.Fatalf("%s yields %v, want no other labels than %v", expr, s.Metric, can)
				}
			})
			for label, values := range can {
				if values != nil && !slices.Contains(values, s.Metric.Get(label)) {
					t.Fatalf("%s yields %v, want only %v", expr, s.Metric, can)
				}
			}
		}
		on := collectorsOf(v, []*rules.File{f}, alert)
		for _, collector := range []string{"one", "two"} {
			less, err := instant(engine, world(uint64(i%20), now, collector), expr, now)
			if err != nil {
				continue
			}
			changed := selected(t, full, matchers) != selected(t, less, matchers)
			if changed && !on[collector] {
				t.Fatalf("r{%s} of %s changes with the collector %s, want it among %v", matchers, expr, collector, on)
			}
			if changed {
				reached++
			} else if !on[collector] {
				spared++
			}
		}
	}
	t.Logf("%d results, %d collectors reached, %d rightly spared", results, reached, spared)
	if results < 2000 || reached < 200 || spared < 200 {
		t.Errorf("%d results, %d collectors reached and %d spared, want enough to mean something", results, reached, spared)
	}
}

// selected formats the samples of a recorded result that a selector matches.
func selected(t *testing.T, result promql.Vector, matchers string) string {
	t.Helper()
	want, err := parser.NewParser(parser.Options{}).ParseMetricSelector("r{" + matchers + "}")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, s := range result {
		recorded := labels.NewBuilder(s.Metric).Set(model.MetricNameLabel, "r").Labels()
		if !slices.ContainsFunc(want, func(m *labels.Matcher) bool { return !m.Matches(recorded.Get(m.Name)) }) {
			found = append(found, fmt.Sprintf("%v %v", recorded, s.F))
		}
	}
	slices.Sort(found)
	return fmt.Sprint(found)
}

// Matchers on a recorded series apply to the series that it is recorded from, if they
// decide. The numbers of the collectors are the values of x.
func TestReachedBehindARecordingRule(t *testing.T) {
	var many strings.Builder
	for i := range 12 {
		fmt.Fprintf(&many, `vitals_a{x="1",y!="%d"} + `, i)
	}
	for _, c := range []struct{ situation, expr, matchers, want string }{
		{"a label that is kept", `vitals_a`, `x="2"`, "two"},
		{"a label that an aggregation drops", `sum by (y) (vitals_a)`, `x="2"`, ""},
		{"a group that only a series without the label makes", `sum by (x) (vitals_a)`, `x=""`, ""},
		{"a label that is counted", `count_values("x", vitals_a)`, `x="2"`, "one two"},
		{"topk picks among all", `topk(1, vitals_a)`, `x="2"`, "one two"},
		{"topk picks among those of its group", `topk by (x) (1, vitals_a)`, `x="2"`, "two"},
		{"a parameter", `topk(scalar(vitals_a{x="1"}), vitals_b{x="2"})`, `x="2"`, "one two"},
		{"either side", `vitals_a or vitals_b`, `x="2"`, "two"},
		{"a left side that hides the right one", `vitals_a{x="1"} or on (y) vitals_b`, `x="2"`, "one two"},
		{"an exception", `vitals_a unless vitals_b`, `x="2"`, "two"},
		{"an exception on another label", `vitals_a unless on (y) vitals_b`, `x="2"`, "one two"},
		{"sides that agree on the label", `vitals_a + on (x) vitals_c`, `x="2"`, "two"},
		{"the many side on the right", `sum by (y) (vitals_a{x="1"}) * on (y) group_right () vitals_b`, `x="2"`, "one two"},
		{"the many side on the left", `vitals_b * on (y) group_left () sum by (y) (vitals_a{x="1"})`, `x="2"`, "one two"},
		{"a label that is taken over", `vitals_b{x="2"} * on (y) group_left (x) vitals_a{y="2"}`, `x="1"`, "one two"},
		{"a label that is made", `label_replace(vitals_a, "x", "2", "", "")`, `x="2"`, "one two"},
		{"another label that is made", `label_replace(vitals_a, "w", "2", "", "")`, `x="2"`, "two"},
		{"absence", `absent(vitals_a{x="1"})`, `x="2"`, "one"},
		{"a number", `vector(scalar(vitals_a{x="1"}))`, ``, "one"},
		{"a cycle with other matchers", `vitals_a{x="1"} or r{x="2"} or vitals_b{x="2"}`, ``, "one two"},
		{"more matchers than are followed separately", many.String() + `vitals_a{x="2"}`, ``, "one two"},
	} {
		text := fmt.Sprintf("groups: [{name: g, rules: [{record: t, expr: vitals_a}, {record: r, expr: %q}, {alert: A, expr: %q}]}]",
			strings.ReplaceAll(c.expr, "vitals_a", "t"), "r{"+c.matchers+"}")
		f, mistakes := rules.Parse("f.yml", []byte(text), nil)
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		reached := collectorsOf(&analysis.Vocabulary{Metrics: labelled()}, []*rules.File{f}, &f.Groups[0].Rules[2])
		if got := strings.Join(slices.Sorted(maps.Keys(reached)), " "); got != c.want {
			t.Errorf("%s: r{%s} of %s reaches %q, want %q", c.situation, c.matchers, c.expr, got, c.want)
		}
	}
}

// resultLabels returns the possible labels of an expression's result with their values, and
// reports whether they are known.
func resultLabels(v *analysis.Vocabulary, files []*rules.File, expr parser.Expr) (labels map[string][]string, known bool) {
	p := analysis.New(files, v)
	is := p.Shape(expr)
	labels = map[string][]string{}
	for _, label := range is.Names() {
		labels[label] = is.Labels[label].Values()
	}
	return labels, is.Rest != shapes.AnyOther
}

// collectorsOf returns the collectors that a rule depends on.
func collectorsOf(v *analysis.Vocabulary, files []*rules.File, r *rules.Rule) map[string]bool {
	p := analysis.New(files, v)
	names := map[string]bool{}
	for _, l := range p.Leaves(r) {
		for _, m := range p.Sources(l.Selector) {
			names[m.Collector] = true
		}
	}
	return names
}
