package explain

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vitals-health/vitals/internal/text"
)

// noon is the moment of every fabricated explanation.
func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// before is a moment before that.
func before(d time.Duration) time.Time { return noon().Add(-d) }

func figurePtr(f float64) *Number { return new(Number(f)) }

// numberNode is a number in an expression.
func numberNode(text string, f float64) *Node {
	return &Node{Expr: text, Kind: KindNumber, Type: "scalar", Value: figurePtr(f)}
}

// selectorNode is a selector with one element, or with none if it has no value.
func selectorNode(expr, collector string, value ...float64) *Node {
	n := &Node{Expr: expr, Kind: KindSelector, Type: "vector", Collectors: []string{collector}, Count: len(value)}
	for _, v := range value {
		name, _, _ := strings.Cut(expr, "{")
		n.Series = append(n.Series, Series{
			Labels: map[string]string{"__name__": name}, Value: figurePtr(v), SampleAt: before(3 * time.Second), Collector: collector,
		})
	}
	return n
}

// comparisonNode compares a node with a number.
func comparisonNode(left *Node, op, number string, f float64, holds, of int) *Node {
	return &Node{
		Expr: left.Expr + " " + op + " " + number, Short: op, Kind: KindComparison, Type: "vector", Count: holds,
		Comparison: &Comparison{Op: op, Threshold: figurePtr(f), True: holds, Of: of},
		Children:   []*Node{left, numberNode(number, f)},
	}
}

// everything is an explanation with all that can stand in one.
func everything() *Explanation {
	at := func(d time.Duration) []Alert {
		return []Alert{{Firing: true, ActiveAt: before(d + 10*time.Second), FiresAt: before(d)}}
	}
	rule := func(name string, tree *Node) *Rule {
		return &Rule{
			Name: name, Group: "g", State: "ready", Severity: "critical", Status: "failing", Since: before(2 * time.Minute), Decides: true,
			NoData: "fail", Expr: tree.Expr, Tree: tree, ForSeconds: 10, Alerts: at(2 * time.Minute), AlertCount: 1,
		}
	}
	down := rule("KeystoneDown", comparisonNode(selectorNode(`vitals_dependency_up{dependency="keystone"}`, "keystone", 0), "==", "0", 0, 1, 1))
	down.Summary, down.Note = "Keystone does not answer or rejects the credentials.", "POST /v3/auth/tokens: no answer for 5 s"
	down.Description, down.RunbookURL = "Pods get no ports while this lasts.", "https://runbooks.example.org/KeystoneDown"
	down.Labels = map[string]string{"team": "network", "area": "identity"}
	follows := rule("NeutronDown", comparisonNode(selectorNode(`vitals_dependency_up{dependency="neutron"}`, "neutron", 0), "==", "0", 0, 1, 1))
	follows.Summary, follows.Cause = "Neutron does not answer.", "KeystoneDown"
	unknown := rule("PoolsMissing", comparisonNode(selectorNode("kuryr_pools", "pools"), "<", "1", 1, 0, 0))
	unknown.Status, unknown.Reason, unknown.Summary, unknown.Alerts, unknown.AlertCount = "unknown", "no data for kuryr_pools", "There are no pools.", nil, 0
	return &Explanation{
		State: "ready", Verdict: "fail", Status: "failing", Since: before(130 * time.Second), Generation: 4711, At: noon(), RuleCount: 12, Deciding: 3,
		Rules:   append([]*Rule{down, follows, unknown}, oddRules(at, rule)...),
		LeftOut: 7,
		Collectors: []Collector{
			{Name: "keystone", Kind: "keystone", External: true, Ran: true, Error: "get token: context deadline exceeded", LastRun: before(3 * time.Second), LastSuccess: before(140 * time.Second)},
			{Name: "pools", Kind: "file", Ran: true, Error: "no such file", LastRun: before(time.Hour)},
			{Name: "neutron", Kind: "neutron", External: true, Ran: true, Success: true, LastRun: before(0), LastSuccess: before(0)},
			{Name: "web", Kind: "scrape", Ran: true, Success: true, LastRun: before(26 * time.Hour), LastSuccess: before(26 * time.Hour)},
			{Name: "late", Kind: "http", External: true},
		},
	}
}

// oddRules are rules of every other status, with parts of every kind.
func oddRules(at func(time.Duration) []Alert, rule func(string, *Node) *Rule) []*Rule {
	elements := func(n *Node, count int, holds bool) *Node {
		n.Count = count
		for _, name := range strings.Split("abcdefghij"[:min(count, 10)], "") {
			n.Series = append(n.Series, Series{Labels: map[string]string{"__name__": "load", "host": name, "job": "x"}, Value: figurePtr(2.5), Collector: "web"})
			if holds {
				n.Series[len(n.Series)-1].Holds = new(name == "a")
			}
		}
		return n
	}
	load := elements(selectorNode("load", "web"), 12, true)
	load.Collectors = append(load.Collectors, "late")
	pending := rule("Loaded", comparisonNode(load, ">", "2", 2, 1, 12))
	pending.Status, pending.Severity, pending.AlertCount = "pending", "warning", 3
	pending.Alerts = []Alert{{ActiveAt: before(4 * time.Second), FiresAt: before(-6 * time.Second)}}
	pending.Evaluated, pending.AsOf = before(40*time.Second), before(20*time.Second)

	samples := &Node{Expr: "done_total[1m]", Kind: KindRange, Type: "matrix", Count: 1, Collectors: []string{"web"}, Series: []Series{{
		Labels: map[string]string{"__name__": "done_total", "job": "x"}, Samples: 6,
		First: &Point{At: before(58 * time.Second), Value: 10}, Last: &Point{At: before(8 * time.Second), Value: 10},
	}}}
	rate := &Node{Expr: "rate(done_total[1m])", Short: "rate", Kind: KindFunction, Type: "vector", Count: 1, Children: []*Node{samples},
		Series: []Series{{Labels: map[string]string{"job": "x"}, Value: figurePtr(0)}}}
	kept := rule("Stuck", &Node{
		Expr: "rate(done_total[1m]) == 0 and absent(" + strings.Repeat("x", 80) + ")", Short: "and", Kind: KindSet, Type: "vector", Cut: true,
		Children: []*Node{comparisonNode(rate, "==", "0", 0, 1, 1)},
	})
	kept.Observe, kept.Alerts[0].KeptUntil, kept.Reason = true, before(-8*time.Second), "query timed out"

	recorded := &Node{Expr: "loads", Kind: KindSelector, Type: "vector", Count: 1, Series: []Series{{
		Labels: map[string]string{"__name__": "loads", "by": "g"}, Value: figurePtr(7), SampleAt: before(time.Second),
	}}, Recordings: []Recording{
		{Name: "loads", Group: "g", Expr: "sum(load)", Labels: map[string]string{"by": "g"}, Evaluated: before(10 * time.Second), AsOf: before(70 * time.Second),
			Tree: elements(&Node{Expr: "sum(load)", Short: "sum", Kind: KindAggregation, Type: "vector", At: before(70 * time.Second)}, 2, false)},
		{Name: "loads", Group: "h", Expr: "sum(loads)", Error: "query timed out"},
	}}
	other := rule("Dead", comparisonNode(recorded, "<", "5", 5, 0, 1))
	other.State, other.Status, other.Alerts, other.AlertCount = "alive", "ok", nil, 0
	own := selectorNode("vitals_state", "", 1)
	own.Own, own.Collectors = true, nil
	plain := rule("Plain", &Node{Expr: "vitals_state + on () load", Short: "+ on ()", Kind: KindArithmetic, Type: "vector", Error: "found duplicate series", Children: []*Node{own}})
	plain.State, plain.Severity, plain.Tree.Children = "", "", []*Node{own}
	sudden := rule("Sudden", comparisonNode(selectorNode("a_name_that_is_longer_than_the_column_at_which_values_begin_at_the_latest", "web", 1), "==", "1", 1, 1, 1))
	sudden.ForSeconds, sudden.Alerts = 0, at(2*time.Minute-10*time.Second)
	later := rule("Later", comparisonNode(elements(selectorNode("load", "web"), 2, true), "==", "1", 1, 2, 2))
	later.ForSeconds, later.Alerts = 0, at(time.Minute)
	later.Tree.Series = later.Tree.Children[0].Series
	later.Tree.Children[0].Expr = `load{host="a"}`
	apart := elements(selectorNode("load", "web"), 4, true)
	apart.Deciding, apart.Collectors = 1, []string{"web", "late"}
	two := elements(selectorNode("pairs", "web"), 4, false)
	two.Deciding = 2
	either := rule("Either", &Node{Expr: "load > 2 or absent(gone) or pairs", Short: "or", Kind: KindSet, Type: "vector", Count: 3, Children: []*Node{
		comparisonNode(apart, ">", "2", 2, 1, 4),
		{Expr: "absent(gone)", Short: "absent", Kind: KindFunction, Type: "vector", Children: []*Node{selectorNode("gone", "web", 1)}},
		two,
	}})
	large := rule("Large", numberNode("1", 1))
	large.Tree = nil
	return []*Rule{pending, kept, other, plain, sudden, later, either, large}
}

func TestExplanationText(t *testing.T) {
	for name, got := range map[string]string{
		"short.txt": Text(everything(), false, ""),
		"whole.txt": Text(everything(), true, "one look"),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", path, diff)
		}
	}
}

// A part whose text is too long stands without its own parts.
func TestTextOfLongParts(t *testing.T) {
	long := strings.Repeat("x", maxPart)
	x := &Node{Expr: long, Kind: KindSelector}
	for _, tt := range []struct {
		kind, short string
		children    []*Node
		cut         bool
		want        string
	}{
		{KindSelector, "", nil, false, long + "+"},
		{KindComparison, "<", []*Node{x, numberNode("5", 5)}, false, "... < 5"},
		{KindComparison, "< bool", []*Node{numberNode("5", 5), x}, false, "5 < bool ..."},
		{KindComparison, "<", []*Node{numberNode("5", 5)}, true, "... < ..."},
		{KindSet, "and on (a)", []*Node{x, x}, false, "... and on (a) ..."},
		{KindArithmetic, "-", []*Node{x}, false, "-..."},
		{KindFunction, "rate", []*Node{x}, false, "rate(...)"},
		{KindAggregation, "sum", []*Node{x}, false, "sum(...)"},
		{KindAggregation, "sum by (a)", []*Node{x}, false, "sum by (a) (...)"},
		{KindSubquery, "[1m:10s]", []*Node{x}, false, "...[1m:10s]"},
	} {
		if got := partOf(&Node{Expr: long + "+", Kind: tt.kind, Short: tt.short, Children: tt.children, Cut: tt.cut}); got != tt.want {
			t.Errorf("partOf(%s %s) = %s, want %s", tt.kind, tt.short, got, tt.want)
		}
	}
	if got := partOf(&Node{Expr: long, Kind: KindSet, Short: "and"}); got != long {
		t.Errorf("partOf() = %s, want the whole part of %d bytes", got, maxPart)
	}
}

func TestExplanationHead(t *testing.T) {
	since := before(50 * time.Hour)
	for want, x := range map[string]Explanation{
		"ready: failing since 2025-12-31 10:00:00 (2d2h), decided by 1 of 1 rule":                   {Verdict: "fail", Status: "failing", RuleCount: 1, Deciding: 1},
		"ready: failing since 2025-12-31 10:00:00 (2d2h), shutting down":                            {Verdict: "fail", Status: "failing", RuleCount: 9, Reason: "shutting down"},
		"ready: failing since 2025-12-31 10:00:00 (2d2h), not alive: Dead, decided by 2 of 9 rules": {Verdict: "fail", Status: "failing", RuleCount: 9, Deciding: 2, Reason: "not alive: Dead"},
		"ready: failing since 2025-12-31 10:00:00 (2d2h), no rules":                                 {Verdict: "fail", Status: "failing", Reason: "no rules"},
		"ready: warning since 2025-12-31 10:00:00 (2d2h), decided by 1 of 9 rules":                  {Verdict: "warn", Status: "warning", RuleCount: 9, Deciding: 1},
		"ready: warning since 2025-12-31 10:00:00 (2d2h), decided by 2 of 9 rules":                  {Verdict: "warn", Status: "warning", RuleCount: 9, Deciding: 2},
		"ready: ok since 2025-12-31 10:00:00 (2d2h), none of its 9 rules makes it fail":             {Verdict: "pass", Status: "ok", RuleCount: 9},
		"ready: ok since 2025-12-31 10:00:00 (2d2h), its only rule does not make it fail":           {Verdict: "pass", Status: "ok", RuleCount: 1},
		"ready: ok since 2025-12-31 10:00:00 (2d2h), it has no rules":                               {Verdict: "pass", Status: "ok"},
	} {
		x.State, x.Since, x.At, x.Generation = "ready", since, noon(), 3
		want += "\n\nas of 2026-01-02 12:00:00 UTC, generation 3\n"
		if got := Text(&x, false, ""); got != want {
			t.Errorf("Text() = %q, want %q", got, want)
		}
	}
	starting := Explanation{State: "started", Verdict: "fail", Status: "unknown", Reason: "starting", At: noon(), Collectors: []Collector{{Name: "late", Kind: "http"}}}
	if got, want := Text(&starting, false, ""), "started: unknown, starting\n\ncollectors:\n  late (http)  no collection has finished yet\n"; !strings.Contains(got, want) {
		t.Errorf("Text() = %q, want the collector that is waited for", got)
	}
}

func TestExplanationLinesAreBounded(t *testing.T) {
	x := everything()
	x.Rules[0].Summary = strings.Repeat("long ", 1000) + "\x1b[31m\nred"
	x.Rules[0].Tree.Expr = strings.Repeat("x", 2000)
	for line := range strings.Lines(Text(x, true, "")) {
		if len(line) > maxLine+1 || strings.Contains(line, "\x1b") {
			t.Errorf("a line has %d bytes, want at most %d and no control characters: %q", len(line), maxLine, line)
		}
	}
}

// An error that fills a screen is cut unless one rule is explained.
func TestExplanationErrorsAreBounded(t *testing.T) {
	x := everything()
	x.Collectors[0].Error = strings.Repeat("longer", 50)
	for whole, want := range map[bool]int{false: maxFailure, true: 300} {
		_, text, _ := strings.Cut(Text(x, whole, ""), "last success 2m20s ago: ")
		if text, _, _ = strings.Cut(text, "\n"); len(text) != want {
			t.Errorf("whole %t: the error has %d bytes, want %d: %s", whole, len(text), want, text)
		}
	}
}

func TestFigures(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -2.5: "-2.5", 1.7e9: "1700000000", 94.45479812: "94.454798", 0.3333333333333333: "0.3333333333",
		99.9999999999: "100", 1e15: "1e+15", 1e-5: "1e-05", math.NaN(): "NaN", math.Inf(1): "+Inf",
	} {
		if got := figure(Number(f)); got != want {
			t.Errorf("figure(%g) = %s, want %s", f, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 999 * time.Millisecond: "0s", 12 * time.Second: "12s", time.Minute: "1m", 130 * time.Second: "2m10s",
		time.Hour + time.Second: "1h", 3*time.Hour + 5*time.Minute: "3h5m", 52 * time.Hour: "2d4h",
	} {
		if got := text.Span(d); got != want {
			t.Errorf("text.Span(%s) = %s, want %s", d, got, want)
		}
	}
	for seconds, want := range map[float64]string{10: "10s", 60: "1m", 90: "1m30s", 3600: "1h", 5400: "1h30m", 0.5: "500ms"} {
		if got := spanOf(seconds); got != want {
			t.Errorf("spanOf(%g) = %s, want %s", seconds, got, want)
		}
	}
}
