package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/evaluator"
)

func names(x *Explanation) string {
	var all []string
	for _, r := range x.Rules {
		all = append(all, r.Name)
	}
	return strings.Join(all, " ")
}

const manyRules = `
groups:
  - name: g
    rules:
      - {alert: Fine, expr: up > 5, labels: {state: ready}}
      - {alert: Consequence, expr: up == 0, labels: {state: ready}, annotations: {depends_on: Root}}
      - {alert: Root, expr: up == 0, labels: {state: ready}, annotations: {summary: "{{ $labels.i }} is down."}}
      - {alert: Waits, expr: up == 0, for: 2m, labels: {state: ready}}
      - {alert: Calm, expr: up > 5, labels: {state: gold}}
      - {alert: Warns, expr: up == 0, labels: {state: gold, severity: warning}}
      - {alert: Waiting, expr: up == 0, for: 2m, labels: {state: gold}}
      - {alert: Unknown, expr: nothing == 0, labels: {state: gold}, annotations: {no_data: pass}}
      - {alert: Observed, expr: up == 0, labels: {state: gold}, annotations: {mode: observe}}
      - {alert: Dead, expr: load > 10, labels: {state: silver}}
      - {alert: Plain, expr: load > 20}
`

func TestRulesOfAnExplanation(t *testing.T) {
	sc := newScene(t, manyRules)
	tests := []struct {
		name, state string
		options     Options
		want        string
	}{
		{"what decides, causes first", "ready", Options{}, "Root Consequence"},
		{"every rule, what decides first", "ready", Options{All: true}, "Root Consequence Fine Waits"},
		{"what is not ok in a state that passes, what warns first", "gold", Options{}, "Warns Waiting Unknown Observed"},
		{"nothing is wrong", "alive", Options{}, ""},
		{"one rule", "ready", Options{Rule: "Fine"}, "Fine"},
		{"one rule wins over all", "ready", Options{Rule: "Fine", All: true}, "Fine"},
		{"an ordinary alert", "ready", Options{Rule: "Plain"}, "Plain"},
		{"a rule of another state", "ready", Options{Rule: "Dead"}, "Dead"},
	}
	for _, tt := range tests {
		x := sc.explain(t, tt.state, tt.options)
		if got := names(x); got != tt.want {
			t.Errorf("%s: the rules are %q, want %q", tt.name, got, tt.want)
		}
		for _, r := range x.Rules {
			if r.Tree == nil {
				t.Errorf("%s: %s has no tree", tt.name, r.Name)
			}
		}
	}
	x := sc.explain(t, "ready", Options{})
	x.Rules = nil
	want := &Explanation{
		State: "ready", Verdict: "fail", Status: "failing", Since: epoch().UTC(), Generation: 62, At: epoch().Add(time.Minute).UTC(), RuleCount: 4, Deciding: 2,
		Collectors: []Collector{{
			Name: "web", Kind: "scrape", Ran: true, Success: true, LastRun: epoch().Add(57 * time.Second).UTC(), LastSuccess: epoch().Add(57 * time.Second).UTC(), IntervalSeconds: 10,
		}},
	}
	if diff := cmp.Diff(want, x); diff != "" {
		t.Errorf("the explanation of ready without its rules (-want +got):\n%s", diff)
	}
}

func TestNothingToExplain(t *testing.T) {
	sc := newScene(t, manyRules)
	for want, query := range map[string][2]string{
		`there is no state "platinum": expected one of ready, alive, started, gold, silver`: {"platinum", ""},
		`there is no rule "Rot": expected one of Fine, Consequence, Root, Waits, Plain`:     {"ready", "Rot"},
		`there is no rule "` + strings.Repeat("x", 64) + `": expected one of Plain`:         {"started", strings.Repeat("x", 99)},
	} {
		_, _, err := choose(sc.snap, query[0], Options{Rule: query[1]}, sc.snap.At)
		if err == nil || err.Error() != want {
			t.Errorf("choose(%q) = %v, want %s", query, err, want)
		}
	}
	if got := (&NotFoundError{What: "rule", Name: "A"}).Error(); got != `there is no rule "A": there is none` {
		t.Errorf("Error() = %s, want \"there is none\"", got)
	}
}

// Where alive fails, ready fails because of the rules of alive.
func TestNotAliveIsExplained(t *testing.T) {
	sc := newScene(t, "groups: [{name: g, rules: [{alert: Dead, expr: up == 0, labels: {state: alive}}, {alert: A, expr: up > 5, labels: {state: ready}}]}]")
	x := sc.explain(t, evaluator.Ready, Options{})
	if names(x) != "Dead" || x.Reason != "not alive: Dead" || x.Deciding != 0 || x.RuleCount != 1 {
		t.Errorf("ready = %s, %d of %d rules, %q, want Dead, 0 of 1, not alive: Dead", names(x), x.Deciding, x.RuleCount, x.Reason)
	}
}

// A state that starts waits for collectors.
func TestStartingIsExplained(t *testing.T) {
	sim, err := evaluator.NewSimulation(evaluator.Config{
		Sources: []evaluator.Source{{Name: "slow", Kind: "http", Interval: time.Second, Collector: &fakeCollector{name: "slow"}}},
	}, evaluator.SimulationOptions{}, epoch())
	if err != nil {
		t.Fatal(err)
	}
	x := (&scene{sim, sim.Evaluate(t.Context(), epoch())}).explain(t, evaluator.Started, Options{})
	want := []Collector{{Name: "slow", Kind: "http", IntervalSeconds: 1}}
	if diff := cmp.Diff(want, x.Collectors); x.Reason != "starting" || diff != "" {
		t.Errorf("reason = %q, want starting; the collectors (-want +got):\n%s", x.Reason, diff)
	}
}

func TestExplainedRule(t *testing.T) {
	at := func(s int) time.Time { return epoch().Add(time.Duration(s) * time.Second).UTC() }
	down := map[string]string{"alertname": "R", "i": "a", "state": "ready"}
	tests := []struct {
		name, rule string
		want       Rule
	}{
		{"it fires", `{alert: R, expr: up == 0, for: 10s, keep_firing_for: 30s, labels: {state: ready}, annotations: {summary: down}}`, Rule{
			Status: "failing", Since: at(17), Decides: true, ForSeconds: 10, KeepFiringForSeconds: 30, Summary: "down", AlertCount: 1, NoData: "fail", Severity: "critical", State: "ready", Expr: "up == 0",
			Alerts: []Alert{{Labels: down, Firing: true, ActiveAt: at(7), FiresAt: at(17)}},
		}},
		{"it will fire", `{alert: R, expr: up == 0, for: 1m, labels: {state: ready}}`, Rule{
			Status: "pending", Since: at(7), ForSeconds: 60, AlertCount: 1, NoData: "fail", Severity: "critical", State: "ready", Expr: "up == 0",
			Alerts: []Alert{{Labels: down, ActiveAt: at(7), FiresAt: at(67)}},
		}},
		{"it goes on after its expression", `{alert: R, expr: load < 50, keep_firing_for: 30s}`, Rule{
			Status: "failing", Since: at(7), KeepFiringForSeconds: 30, AlertCount: 1, NoData: "pass", Expr: "load < 50",
			Alerts: []Alert{{Labels: map[string]string{"alertname": "R", "host": "h"}, Value: 47, Firing: true, ActiveAt: at(7), FiresAt: at(7), KeptUntil: at(87)}},
		}},
		{"nothing is known", `{alert: R, expr: 'nothing == 0', labels: {state: ready}, annotations: {no_data: hold, mode: observe}}`, Rule{
			Status: "unknown", Since: at(0), Reason: "no data for nothing", Observe: true, NoData: "hold", Severity: "critical", State: "ready", Expr: "nothing == 0",
		}},
		{"it cannot be evaluated", `{alert: R, expr: 'limit + on () up', labels: {state: ready}}`, Rule{
			Status: "unknown", Since: at(0), Decides: true, NoData: "fail", Severity: "critical", State: "ready", Expr: "limit + on () up",
			Reason: `found duplicate series for the match group {} on the right hand-side of the operation: [{__name__="up", i="a"}, {__name__="up", i="b"}];many-to-many matching not allowed: matching labels must be unique on one side`,
		}},
	}
	for _, tt := range tests {
		sc := newScene(t, "groups: [{name: g, rules: ["+tt.rule+"]}]")
		got := *sc.explain(t, evaluator.Ready, Options{Rule: "R"}).Rules[0]
		tt.want.Name, tt.want.Group, tt.want.File = "R", "g", "test.yml"
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Rule{}, "Tree")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if tt.want.Status == "unknown" && strings.HasPrefix(tt.want.Reason, "found") && got.Tree.Error != tt.want.Reason {
			t.Errorf("%s: the tree has the error %q, want that of the rule", tt.name, got.Tree.Error)
		}
	}
}

func TestExplainedAlertsAreBounded(t *testing.T) {
	sc := newScene(t, `groups: [{name: g, rules: [{alert: R, expr: 'label_replace(vector(1), "a", "1", "", "") or label_replace(vector(1), "a", "2", "", "")', labels: {state: ready}}]}]`)
	r := sc.snap.Rules[0]
	for len(r.Alerts) < 30 {
		r.Alerts = append(r.Alerts, r.Alerts...)
	}
	sc.view(t, func(_ context.Context, v *evaluator.View) {
		if got := newExplainer(v).bare(&r); len(got.Alerts) != 10 {
			t.Errorf("%d of %d alerts are explained, want 10", len(got.Alerts), len(r.Alerts))
		}
	})
}

// The moments of a group with an interval, a query_offset or both, and of its parts.
func TestExplainedGroupsOfTheirOwn(t *testing.T) {
	sc := newScene(t, `
groups:
  - {name: slow, interval: 50s, rules: [{alert: Slow, expr: load > 0, labels: {state: ready}}]}
  - {name: past, query_offset: 20s, rules: [{alert: Past, expr: "load > 0", labels: {state: ready}}, {record: past_load, expr: load}]}
  - {name: now, rules: [{alert: Now, expr: past_load > 0, labels: {state: ready}}]}`)
	rules := sc.explain(t, evaluator.Ready, Options{All: true}).Rules
	slow, past, now := rules[0], rules[1], rules[2]
	if got := slow.Evaluated.Sub(epoch()); got != 57*time.Second || !slow.AsOf.IsZero() {
		t.Errorf("Slow was evaluated at %s as of %s, want 57s, and now", got, slow.AsOf)
	}
	if got := past.AsOf.Sub(epoch()); got != 40*time.Second || !past.Evaluated.IsZero() {
		t.Errorf("Past was evaluated as of %s at %s, want 40s, in the last evaluation", got, past.Evaluated)
	}
	want := `comparison load > 0 = 1 series (> 0: 1 of 1)
  - load{host=h} 37
  selector load = 1 series from web
    - load{host=h} 37 true of 37s from web
  number 0 = 0
`
	if diff := cmp.Diff(want, sketch(past.Tree)); diff != "" {
		t.Errorf("the tree of Past (-want +got):\n%s", diff)
	}
	recording := now.Tree.Children[0].Recordings[0]
	if got := recording.AsOf.Sub(epoch()); got != 40*time.Second || recording.Tree == nil || *recording.Tree.Series[0].Value != 37 {
		t.Errorf("the recording rule = %+v, want the value of 40s", recording)
	}
}

func TestRecordingRulesAreFollowed(t *testing.T) {
	sc := newScene(t, `
groups:
  - name: g
    rules:
      - {record: "a:one", expr: sum(up), labels: {by: first}}
      - {record: "a:one", expr: "count(up)", labels: {by: second}}
      - {record: "a:two", expr: "a:one * 2"}
      - {record: "a:three", expr: "a:two + 1"}
      - {record: "a:four", expr: "a:three + 1"}
      - {record: "self", expr: "up or self offset 5s"}
      - {record: "bad", expr: "load + on () up"}
      - {record: "never", expr: "nothing"}
      - {alert: One, expr: 'a:one{by="first"} == 2'}
      - {alert: Deep, expr: 'a:four == 2'}
      - {alert: Self, expr: 'count(self) == 3'}
      - {alert: Bad, expr: 'bad == 3'}
      - {alert: Never, expr: 'never == 3'}
      - {alert: Twice, expr: 'a:two > 3 and a:two < 9'}`)
	const failed = `found duplicate series for the match group {} on the right hand-side of the operation: [{__name__="up", i="a"}, {__name__="up", i="b"}];many-to-many matching not allowed: matching labels must be unique on one side`
	for name, want := range map[string]string{
		"One": `comparison a:one{by="first"} == 2 = 1 series (== 2: 1 of 1)
  - a:one{by=first} 2
  selector a:one{by="first"} = 1 series
    - a:one{by=first} 2 true of 1m0s
    recorded a:one by g: sum(up)
      aggregation sum(up) = 1 series
        - {} 2
        selector up = 3 series from web
          - up{i=a} 0 of 57s from web
          - up{i=b} 1 of 57s from web
          - up{i=c} 1 of 57s from web
  number 2 = 2
`,
		"Bad": `comparison bad == 3 = 0 series (== 3: 0 of 0)
  selector bad = 0 series
    recorded bad by g: load + on () up error: ` + failed + `
      arithmetic load + on () up = 0 series error: ` + failed + `
        selector load = 1 series from web
          - load{host=h} 57 of 57s from web
        selector up = 3 series from web
          - up{i=a} 0 of 57s from web
          - up{i=b} 1 of 57s from web
          - up{i=c} 1 of 57s from web
  number 3 = 3
`,
		"Never": `comparison never == 3 = 0 series (== 3: 0 of 0)
  selector never = 0 series
    recorded never by g: nothing
      selector nothing = 0 series
  number 3 = 3
`,
	} {
		if diff := cmp.Diff(want, sketch(sc.explain(t, evaluator.Ready, Options{Rule: name}).Rules[0].Tree)); diff != "" {
			t.Errorf("the tree of %s (-want +got):\n%s", name, diff)
		}
	}
	for name, want := range map[string]int{"Deep": 3, "Self": 1, "Twice": 2} {
		text := sketch(sc.explain(t, evaluator.Ready, Options{Rule: name}).Rules[0].Tree)
		if got := strings.Count(text, "aggregation sum(up)") + strings.Count(text, "arithmetic a:") + strings.Count(text, "set up or"); got != want {
			t.Errorf("the tree of %s has the trees of %d recording rules, want %d:\n%s", name, got, want, text)
		}
	}
}

func TestTreesAreBounded(t *testing.T) {
	wide := "up == 0" + strings.Repeat(" or up == 1", 60)
	var rules []string
	for i := range 150 {
		rules = append(rules, fmt.Sprintf("{alert: R%03d, expr: '%s', labels: {state: ready}}", i, wide))
	}
	sc := newScene(t, "groups: [{name: g, rules: ["+strings.Join(rules, ",\n")+"]}]")
	x := sc.explain(t, evaluator.Ready, Options{})
	if len(x.Rules) != 100 || x.LeftOut != 50 {
		t.Errorf("%d rules, %d left out, want 100 and 50", len(x.Rules), x.LeftOut)
	}
	nodes, trees := 0, 0
	var count func(n *Node) bool
	count = func(n *Node) (cut bool) {
		nodes++
		for _, child := range n.Children {
			cut = count(child) || cut
		}
		return cut || n.Cut
	}
	for i, r := range x.Rules {
		if (r.Tree != nil) != (i < 4) {
			t.Errorf("rule %d has a tree: %t, want one of the first four", i, r.Tree != nil)
		}
		if r.Tree != nil {
			trees++
			if before := nodes; !count(r.Tree) || nodes-before > maxTreeNodes+1 || nodes-before < maxTreeNodes {
				t.Errorf("rule %d has %d nodes, want %d and the rest cut", i, nodes-before, maxTreeNodes)
			}
		}
	}
	_, chosen, err := choose(sc.snap, evaluator.Ready, Options{}, sc.snap.At)
	if err != nil {
		t.Fatal(err)
	}
	_, known := sc.explained(t, evaluator.Ready, Options{})
	if known.rules[chosen[4]].whole == nil || known.rules[chosen[5]].whole != nil {
		t.Error("trees were built that are not shown, want none but that which is too much")
	}
	one := sc.explain(t, evaluator.Ready, Options{Rule: "R149"})
	if len(one.Rules) != 1 || one.Rules[0].Tree == nil {
		t.Error("a rule that is explained alone has no tree")
	}
}

func TestRecordingRulesOfANodeAreBounded(t *testing.T) {
	var rules []string
	for i := range 7 {
		rules = append(rules, fmt.Sprintf("{record: r, expr: up, labels: {n: n%d}}", i))
	}
	sc := newScene(t, "groups: [{name: g, rules: ["+strings.Join(rules, ", ")+", {alert: R, expr: r}]}]")
	if got := len(sc.explain(t, evaluator.Ready, Options{Rule: "R"}).Rules[0].Tree.Recordings); got != maxOrigins {
		t.Errorf("%d recording rules are shown, want %d", got, maxOrigins)
	}
}

func TestSeriesOfANodeAreBounded(t *testing.T) {
	n := tree(t, `count_values("v", {__name__=~"vitals_.+"}) > 0`)
	all := n.Children[0].Children[0]
	if len(all.Series) != maxNodeSeries || all.Count <= maxNodeSeries {
		t.Errorf("%d of %d series are shown, want %d", len(all.Series), all.Count, maxNodeSeries)
	}
	sorted := slices.IsSortedFunc(all.Series, func(x, y Series) int {
		return strings.Compare(sketchLabels(x.Labels), sketchLabels(y.Labels))
	})
	if !sorted {
		t.Errorf("the series are %+v, want them in order", all.Series)
	}
}

// What is not evaluated in time has an error in place of a value.
func TestExplanationWithoutTime(t *testing.T) {
	sc := newScene(t, manyRules)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sc.view(t, func(_ context.Context, v *evaluator.View) {
		if got := newExplainer(v).rule(ctx, &sc.snap.Rules[0], true).whole.Tree.Error; !strings.Contains(got, "canceled") {
			t.Errorf("the error of the tree = %q, want that the query was canceled", got)
		}
	})
}

// Explanations do not change the following snapshots.
func TestExplainingChangesNothing(t *testing.T) {
	plain, explained := newScene(t, manyRules), newScene(t, manyRules)
	for s := 61; s < 120; s++ {
		for _, sc := range []*scene{plain, explained} {
			if s == 70 || s == 90 {
				sc.deliver(t, "web", s, upSamples(float64(s-70), 0)...)
			}
			sc.snap = sc.Evaluate(context.Background(), epoch().Add(time.Duration(s)*time.Second))
		}
		explained.explain(t, evaluator.Ready, Options{All: true})
		explained.explain(t, "gold", Options{All: true})
		if diff := cmp.Diff(plain.snap, explained.snap, cmpopts.EquateEmpty(), cmp.Comparer(func(x, y fmt.Stringer) bool { return x.String() == y.String() })); diff != "" {
			t.Fatalf("after %ds the snapshots differ (-not explained +explained):\n%s", s, diff)
		}
	}
}
