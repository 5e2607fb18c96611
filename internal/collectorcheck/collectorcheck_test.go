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
	})
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
