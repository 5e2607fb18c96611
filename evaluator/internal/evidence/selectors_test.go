package evidence_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator/internal/evidence"
	"github.com/vitals-health/vitals/internal/promexpr"
)

func parse(t *testing.T, text string) parser.Expr {
	t.Helper()
	e, err := promexpr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMetrics(t *testing.T) {
	recorded := map[string][]parser.Expr{
		"rec:a": {parse(t, `a + rec:b`)}, "rec:b": {parse(t, `b unless c`), parse(t, `rec:a`)}, evidence.AlertsMetric: nil,
	}
	for _, c := range []struct{ expr, want string }{
		{`a == 0 or b == 0`, "a b"},
		{`a == 0 unless on () excuse == 1`, "a"},
		{`(a unless excuse) and c`, "a c"},
		{`rec:a > 1`, "a b"},
		{`rec:b > 1 and a`, "b a"},
		{`ALERTS{alertname="A"} and d`, "d"},
		{`{job="x"} + max_over_time(e[5m])`, "e"},
		{`1`, ""},
	} {
		if got := evidence.Metrics(parse(t, c.expr), recorded); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("Metrics(%s) = %q, want %q", c.expr, got, c.want)
		}
	}
}

func TestSelectsAlerts(t *testing.T) {
	for expr, want := range map[string]bool{
		`ALERTS == 1`: true, `sum(ALERTS_FOR_STATE)`: true, `{__name__=~"ALERTS.*"}`: true, `up or on () ALERTS{alertname="A"}`: true,
		`up`: false, `{alertname="A"}`: false, `{__name__=~"ALERT"}`: false, `{__name__!="ALERTS",__name__!="ALERTS_FOR_STATE",job="x"}`: false,
	} {
		if got := evidence.SelectsAlerts(parse(t, expr)); got != want {
			t.Errorf("SelectsAlerts(%s) = %t, want %t", expr, got, want)
		}
	}
}
