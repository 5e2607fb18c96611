package collectorcheck_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/collectorcheck"
	"github.com/vitals-health/vitals/rules/lint"
)

// groups are rules as name and expression.
func groups(rules ...[2]string) []evaluator.Group {
	var g evaluator.Group
	for _, r := range rules {
		g.Rules = append(g.Rules, evaluator.GroupRule{Definition: &evaluator.Definition{Name: r[0], Query: r[1]}})
	}
	return []evaluator.Group{g}
}

func sample(value float64, pairs ...string) collectors.Sample {
	return collectors.Sample{Labels: labels.FromStrings(pairs...), Value: value}
}

func report() *collectorcheck.Report {
	return collectorcheck.Of(&evaluator.Snapshot{
		Groups: groups(
			[2]string{"db:up", `max(vitals_dependency_up{dependency="db"})`},
			[2]string{"DBDown", `vitals_dependency_up{dependency="db"} == 0`},
			[2]string{"AnyDown", `vitals_dependency_up == 0 or vitals_dependency_up == 2`},
			[2]string{"Refused", `vitals_dependency_failure{reason="refused"} == 1`},
			[2]string{"Last", `{__name__=~"vitals_dependency_u.*"} == 0`},
		),
		Collectors: []evaluator.CollectorStatus{
			{Name: "db", Kind: "tcp", Ran: true, Success: true, Note: "127.0.0.1:5432 answered", Duration: 12e6},
			{Name: "web", Kind: "http", Ran: true, Error: "refused", Duration: 1e6},
			{Name: "slow", Kind: "http"},
		},
		Batches: []evaluator.Batch{
			{Samples: []collectors.Sample{
				sample(1, "__name__", "vitals_dependency_up", "dependency", "db"),
				sample(0, "__name__", "vitals_dependency_failure", "dependency", "db", "reason", "refused"),
				sample(1, "__name__", "vitals_dependency_failure", "dependency", "db", "reason", "timeout"),
				sample(math.NaN(), "__name__", "vitals_dependency_duration_seconds", "dependency", "db"),
			}},
			{Samples: []collectors.Sample{sample(0, "__name__", "vitals_dependency_up", "dependency", "web")}},
			{},
		},
	}, nil)
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := report().Text(&b, false); err != nil {
		t.Fatal(err)
	}
	const want = `db (tcp): ok in 12ms: 127.0.0.1:5432 answered
  vitals_dependency_duration_seconds  NaN               no rule
  vitals_dependency_failure           0 to 1 in 2 series  Refused
  vitals_dependency_up                1                 db:up, DBDown, AnyDown and 1 more
web (http): failed after 1ms: refused
  vitals_dependency_up  0  AnyDown, Last
slow (http): no result in time
3 collectors, 2 failed; no rule uses 1 metric
`
	squeeze := func(s string) []string {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = strings.Join(strings.Fields(lines[i]), " ")
		}
		return lines
	}
	if diff := cmp.Diff(squeeze(want), squeeze(b.String())); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
}

// With series, each one has a line with its labels.
func TestTextOfSeries(t *testing.T) {
	var b strings.Builder
	if err := report().Text(&b, true); err != nil {
		t.Fatal(err)
	}
	if want := `{dependency="db", reason="timeout"}`; strings.Count(b.String(), want) != 1 {
		t.Errorf("Text = %s, want one line with %s", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	r := report()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"name":"vitals_dependency_duration_seconds","series":[{"labels":{"dependency":"db"},"value":"NaN"}],"rules":[]}`; !strings.Contains(string(data), want) {
		t.Errorf("JSON = %s, want %s in it", data, want)
	}
	if r.OK() {
		t.Error("OK() = true, want false: two collections failed")
	}
	if diff := cmp.Diff([]string{"vitals_dependency_duration_seconds"}, r.Collectors[0].Unused()); diff != "" {
		t.Errorf("Unused (-want +got):\n%s", diff)
	}
}

// A selector without a series is reported once, with the label that excludes what was measured. It
// is not reported if the rule works without it, a failed collector may export its series, or only
// another program could.
func TestUnmatched(t *testing.T) {
	phases := map[string][]string{"dependency": {"db"}, "phase": {"resolve", "connect"}}
	r := collectorcheck.Of(&evaluator.Snapshot{
		Groups: groups(
			[2]string{"db:up", `max(vitals_dependency_up{dependency="db"})`},
			[2]string{"Slow", `vitals_tcp_phase_duration_seconds{dependency="db",phase="exchange"} > 1`},
			[2]string{"Slower", `max(vitals_tcp_phase_duration_seconds{dependency="db",phase="exchange"}) > 1`},
			[2]string{"Resolves", `vitals_tcp_phase_duration_seconds{phase="resolve"} > 1`},
			[2]string{"Lags", `rate(vitals_postgres_replication_lag_seconds[5m]) > 1`},
			[2]string{"Typo", `vitals_dependency_uq == 0`},
			[2]string{"WebSlow", `vitals_dependency_latency_seconds{dependency="web"} > 1`},
			[2]string{"Recorded", `db:up == 0`},
			[2]string{"Other", `app_requests == 0`},
			[2]string{"App", `app_errors{code="500"} > 0`},
			[2]string{"Excused", `vitals_dependency_up == 0 unless vitals_a or vitals_b`},
			[2]string{"Absent", `absent(vitals_c)`},
			[2]string{"Silenced", `vitals_rule_silenced == 1`},
		),
		Collectors: []evaluator.CollectorStatus{{Name: "db", Kind: "tcp", Ran: true, Success: true}, {Name: "web", Kind: "http", Ran: true}},
		Batches: []evaluator.Batch{{Samples: []collectors.Sample{
			sample(1, "__name__", "vitals_dependency_up", "dependency", "db"),
			sample(1, "__name__", "vitals_tcp_phase_duration_seconds", "dependency", "db", "phase", "connect"),
			sample(1, "__name__", "app_errors", "code", "404"),
		}}, {}},
	}, []lint.Metric{
		{Name: "vitals_tcp_phase_duration_seconds", Labels: phases, Collector: "db", Vanishes: true},
		{Name: "vitals_postgres_replication_lag_seconds", Collector: "db", Vanishes: true},
		{Name: "vitals_dependency_latency_seconds", Labels: map[string][]string{"dependency": {"web"}}, Collector: "web"},
		{Name: "vitals_rule_silenced", Vanishes: true},
	})
	if diff := cmp.Diff([]collectorcheck.Unmatched{
		{Selector: `vitals_tcp_phase_duration_seconds{dependency="db",phase="exchange"}`, Rules: []string{"Slow", "Slower"}, Label: "phase", Measured: []string{"connect"}},
		{Selector: `vitals_tcp_phase_duration_seconds{phase="resolve"}`, Rules: []string{"Resolves"}, Label: "phase", Measured: []string{"connect"}, MayBeAbsent: true},
		{Selector: `vitals_postgres_replication_lag_seconds`, Rules: []string{"Lags"}, MayBeAbsent: true},
		{Selector: `vitals_dependency_uq`, Rules: []string{"Typo"}},
		{Selector: `app_errors{code="500"}`, Rules: []string{"App"}, Label: "code", Measured: []string{"404"}},
	}, r.Unmatched); diff != "" {
		t.Errorf("Unmatched (-want +got):\n%s", diff)
	}
	for range 30 {
		r.Unmatched = append(r.Unmatched, collectorcheck.Unmatched{Selector: "x", Rules: []string{"A", "B", "C", "D"}})
	}
	var b strings.Builder
	if err := r.Text(&b, false); err != nil {
		t.Fatal(err)
	}
	for line, times := range map[string]int{
		`rules Slow, Slower: nothing was measured for vitals_tcp_phase_duration_seconds{dependency="db",phase="exchange"}; measured phase: connect`: 1,
		"rules A, B, C and 1 more: nothing was measured for x":                17,
		"nothing was measured for 13 selectors more":                          1,
		"rules over series that may be absent, and are now: Resolves, Lags\n": 1,
	} {
		if got := strings.Count(b.String(), line); got != times {
			t.Errorf("Text has %q %d times, want %d:\n%s", line, got, times, b.String())
		}
	}
}
