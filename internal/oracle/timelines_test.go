package oracle

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	promrules "github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

const (
	// ruleTimelines random rule files are evaluated so many times each.
	ruleTimelines = 40
	ruleSteps     = 40
	ruleInterval  = 10 * time.Second
)

// pick returns one of the choices.
func pick(r *rand.Rand, choices ...string) string { return choices[r.IntN(len(choices))] }

// randomAlert is an alert whose labels may collide and whose templates may query. The number
// keeps its alerts apart from those of other rules.
func randomAlert(r *rand.Rand, name string, number int) string {
	expr := pick(r, "m > 0", "m == 1", "n > 0", "m > 0 or n > 0", "sum by (x) (m) > 1", "rec > 1", "max_over_time(m[5s * 6]) > 1", "m unless on (x) n > 0")
	label := pick(r, "plain: text", `x: all`, `y: "{{ $labels.x }}"`, `value: "{{ $value }}"`,
		`queried: '{{ with query "count(m > 0)" }}{{ . | first | value }}{{ end }}'`)
	note := pick(r, `"{{ $labels.x }} = {{ $value }}"`,
		`'{{ with query "sum(m)" }}{{ . | first | value }}{{ end }}'`,
		`'{{ with query "rec" }}{{ . | first | value }}{{ end }}, {{ with query "later" }}{{ . | first | value }}{{ end }}'`,
		`'{{ range query "count by (alertname) (ALERTS{alertstate=\"firing\"})" | sortByLabel "alertname" }}{{ .Labels.alertname }} {{ .Value }} {{ end }}'`,
		`'{{ printf "m{x=%q} offset 10s" $labels.x | query | first | value }}'`,
		`'{{ now }}'`)
	return fmt.Sprintf("      - {alert: %s, expr: '%s', for: %s, keep_firing_for: %s, labels: {%s, number: r%d}, annotations: {note: %s}}\n",
		name, expr, pick(r, "0s", "0s", "10s", "25s"), pick(r, "0s", "0s", "20s"), label, number, note)
}

// randomRules is a file of two groups. Their alerts may have names with spaces, and the same
// name twice.
func randomRules(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("groups:\n")
	for g := range 2 {
		fmt.Fprintf(&b, "  - name: g%d\n    query_offset: %s\n    rules:\n", g, pick(r, "0s", "0s", "10s", "15s"))
		if g == 0 {
			b.WriteString("      - {record: rec, expr: sum(m)}\n")
			for _, x := range []string{"a", "b"} { // only the labels of the series differ
				fmt.Fprintf(&b, "      - {alert: Twice, expr: 'm{x=\"%s\"} > 0', for: %s}\n", x, pick(r, "0s", "10s"))
			}
		}
		for i := range 3 {
			b.WriteString(randomAlert(r, pick(r, fmt.Sprintf("A%d%d", g, i), "An alert", "a-b"), 3*g+i))
		}
		if g == 1 {
			b.WriteString("      - {record: later, expr: sum(n)}\n")
		}
	}
	return b.String()
}

// randomValues are the values of a few series at each step; a missing series has ended.
func randomValues(r *rand.Rand) []map[string]float64 {
	all := make([]map[string]float64, ruleSteps)
	now := map[string]float64{}
	for i := range all {
		for _, name := range []string{`m{x="a"}`, `m{x="b"}`, `n{x="a"}`, `n{x="c"}`} {
			switch p := r.Float64(); {
			case p < 0.3:
				now[name] = float64(r.IntN(4))
			case p < 0.4:
				delete(now, name)
			}
		}
		all[i] = map[string]float64{}
		for k, v := range now {
			all[i][k] = v
		}
	}
	return all
}

// TestRandomRulesAgainstPrometheus plays random rule files over random timelines here and in
// Prometheus' rule groups with its storage. After every evaluation the alerts, their
// annotations and the failing rules must be equal.
func TestRandomRulesAgainstPrometheus(t *testing.T) {
	const seed = 1 // fixed, so that a failure has its cause in the tested change
	seen := map[string]int{}
	for i := range ruleTimelines {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		text := randomRules(r)
		file, errs := rules.Parse("random.yml", []byte(text), nil)
		if errs = append(errs, rules.Check([]*rules.File{file})...); len(errs) > 0 {
			t.Fatalf("%v\n%s", errs, text)
		}
		values := randomValues(r)
		got, want := simulated(t, file, values), referenced(t, file, values)
		for j := range want {
			if diff := cmp.Diff(want[j], got[j]); diff != "" {
				t.Fatalf("timeline %d of seed %d, step %d differs (-Prometheus +Vitals):\n%s\n%s", i, seed, j, diff, text)
			}
			for _, line := range want[j] {
				for _, what := range []string{"firing", "pending", "fails", "<error", "An alert", "Twice"} {
					if strings.Contains(line, what) {
						seen[what]++
					}
				}
			}
		}
	}
	for _, what := range []string{"firing", "pending", "fails", "<error", "An alert", "Twice"} {
		if seen[what] < ruleTimelines {
			t.Errorf("the timelines had %q %d times, want at least %d times", what, seen[what], ruleTimelines)
		}
	}
}

func ruleTime(step int) time.Time { return time.UnixMilli(0).Add(time.Duration(step+1) * ruleInterval) }

// outcome is a line of the compared results.
func outcome(group, labels string, firing bool, value float64, activeAt time.Time, annotations string) string {
	state := "pending"
	if firing {
		state = "firing"
	}
	return fmt.Sprintf("%s %s %s %g since %d: %s", group, state, labels, value, activeAt.UnixMilli(), annotations)
}

// simulated returns the outcomes of the evaluator.
func simulated(t *testing.T, file *rules.File, values []map[string]float64) [][]string {
	t.Helper()
	s, err := evaluator.NewSimulation(evaluator.Config{Interval: ruleInterval, Files: []*rules.File{file}},
		evaluator.SimulationOptions{EveryGroup: true, Hides: func(string) bool { return true }}, ruleTime(0))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	var before map[string]float64
	for i, step := range values {
		for text, v := range stepWithEnds(before, step) {
			if err := s.Append(evaluator.Sample{Labels: metric(text), T: ruleTime(i).UnixMilli(), Value: v}); err != nil {
				t.Fatal(err)
			}
		}
		before = step
		snapshot := s.Evaluate(t.Context(), ruleTime(i))
		var lines []string
		for _, r := range snapshot.Rules {
			for _, a := range r.Alerts {
				lines = append(lines, outcome(r.Group, a.Labels.String(), a.Firing, a.Value, a.ActiveAt, labels.FromMap(a.Annotations).String()))
			}
		}
		for _, e := range s.Errors() {
			lines = append(lines, e.Group+" "+e.Rule+" fails")
		}
		all = append(all, inOrder(lines))
	}
	return all
}

func inOrder(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// referenced returns the outcomes of Prometheus' rule groups.
func referenced(t *testing.T, file *rules.File, values []map[string]float64) [][]string {
	t.Helper()
	db := teststorage.New(t)
	groups := promGroups(t, file, db)
	var all [][]string
	var before map[string]float64
	for i, step := range values {
		write(t, db, ruleTime(i), before, step)
		before = step
		var lines []string
		for _, g := range groups {
			g.Eval(t.Context(), ruleTime(i))
		}
		for _, g := range groups {
			for _, r := range g.Rules() {
				if r.LastError() != nil {
					lines = append(lines, g.Name()+" "+r.Name()+" fails")
				}
			}
			for _, r := range g.AlertingRules() {
				for _, a := range r.ActiveAlerts() {
					lines = append(lines, outcome(g.Name(), a.Labels.String(), a.State == promrules.StateFiring, a.Value, a.ActiveAt, a.Annotations.String()))
				}
			}
		}
		all = append(all, inOrder(lines))
	}
	return all
}

// promGroups makes the groups of a file in Prometheus.
func promGroups(t *testing.T, file *rules.File, db storage.Storage) []*promrules.Group {
	opts := &promrules.ManagerOptions{
		QueryFunc:  promrules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), db),
		NotifyFunc: func(context.Context, string, ...*promrules.Alert) {},
		Context:    t.Context(), Appendable: db, Queryable: db,
	}
	promrules.NewManager(opts) // sets further defaults
	var groups []*promrules.Group
	for _, g := range file.Groups {
		var all []promrules.Rule
		for _, r := range g.Rules {
			if r.Record != "" {
				all = append(all, promrules.NewRecordingRule(r.Record, r.AST, labels.FromMap(r.Labels)))
				continue
			}
			all = append(all, promrules.NewAlertingRule(r.Alert, r.AST, r.For, r.KeepFiringFor, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler)))
		}
		groups = append(groups, promrules.NewGroup(promrules.GroupOptions{Name: g.Name, File: file.Name, Interval: ruleInterval, QueryOffset: &g.QueryOffset, Rules: all, Opts: opts}))
	}
	return groups
}
