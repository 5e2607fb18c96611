package postgres_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/postgres/postgrestest"
)

// Each query has its values or its reason, and none changes whether the server is up.
func TestQueries(t *testing.T) {
	answers := postgrestest.Healthy()
	block, want := "", map[string]string{}
	for name, c := range map[string]struct {
		answer any
		labels string
		reason string
	}{
		"cells":     {postgrestest.Table{Columns: []string{"cell", "n"}, Rows: [][]any{{"c1", 1}, {"c2", "2.5"}}}, "cell", ""},
		"none":      {postgrestest.Table{Columns: []string{"n"}}, "", ""},
		"nothing":   {postgrestest.Table{Columns: []string{"n"}, Rows: [][]any{{1}, {nil}}}, "", "null"},
		"text":      {postgrestest.Table{Columns: []string{"n"}, Rows: [][]any{{"x"}}}, "", "not_a_number"},
		"two":       {postgrestest.Table{Columns: []string{"n", "m"}, Rows: [][]any{{1, 2}}}, "", "columns"},
		"unlike":    {postgrestest.Table{Columns: []string{"n", "m"}, Rows: nil}, "cell", "columns"},
		"twice":     {postgrestest.Table{Columns: []string{"cell", "n"}, Rows: [][]any{{"c", 1}, {"c", 2}}}, "cell", "duplicate"},
		"writes":    {postgrestest.Failure("25006", "cannot execute nextval() in a read-only transaction"), "", "read_only"},
		"slow":      {postgrestest.Failure("57014", "canceling statement due to statement timeout"), "", "timeout"},
		"secret":    {postgrestest.Failure("42501", "permission denied for table x"), "", "forbidden"},
		"wrong":     {postgrestest.Failure("42601", "syntax error"), "", "client_error"},
		"zero":      {postgrestest.Failure("22012", "division by zero"), "", "client_error"},
		"full":      {postgrestest.Failure("53200", "out of memory"), "", "server_error"},
		"of_others": {postgrestest.Failure("53300", "too many connections"), "", "server_error"},
	} {
		answers["SELECT "+name] = c.answer
		block += name + ": {sql: SELECT " + name + ", labels: [" + c.labels + "]}, "
		if want[name] = c.reason; c.reason == "" {
			want[name] = "success"
		}
	}
	address := collectortest.Listen(t, postgrestest.Server{TB: t, Answers: answers}.Serve)
	samples, err := collectortest.Collect(t, newCollector(t, "address: '"+address+"', queries: {"+block+"}"))
	if got := collectortest.Reason(samples); got != "" || err == nil || !strings.Contains(err.Error(), ": query full: error 53200: out of memory") {
		t.Errorf("Collect() = %v, reason %q, want the first error of a server that is up", err, got)
	}
	got, values := map[string]string{}, ""
	for _, s := range samples {
		name := s.Labels.Get(model.MetricNameLabel)
		switch {
		case name == "vitals_query_value":
			values += collectortest.Sample(s)
		case name == "vitals_query_success" && s.Value == 1:
			got[s.Labels.Get("query")] = "success"
		case name == "vitals_query_failure" && s.Value == 1:
			got[s.Labels.Get("query")] += s.Labels.Get("reason")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	const rows = "vitals_query_value{cell=\"c1\",dependency=\"nova\",query=\"cells\"} 1\nvitals_query_value{cell=\"c2\",dependency=\"nova\",query=\"cells\"} 2.5\n"
	if values != rows {
		t.Errorf("values =\n%s\nwant\n%s", values, rows)
	}
}
