package evidence_test

import (
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator/internal/evidence"
	"github.com/vitals-health/vitals/internal/window"
)

// evidenceWindow has ten minutes of history from epoch on. The series a{x="1"} and b
// have a sample each 10 s, until the end. The series gone has one sample at the
// beginning, and ends after a minute.
func evidenceWindow(t *testing.T) *window.Window {
	t.Helper()
	w := window.New()
	w.SetRetention(nil, time.Hour)
	live, gone := w.Source(), w.Source()
	for at := time.Duration(0); at <= 10*time.Minute; at += 10 * time.Second {
		ms := epoch().Add(at).UnixMilli()
		live.Begin(ms)
		for _, ls := range []labels.Labels{labels.FromStrings(model.MetricNameLabel, "a", "x", "1"), labels.FromStrings(model.MetricNameLabel, "b")} {
			if err := live.Add(ls, 1, 0); err != nil {
				t.Fatal(err)
			}
		}
		live.End()
		switch at {
		case 0:
			gone.Begin(ms)
			if err := gone.Add(labels.FromStrings(model.MetricNameLabel, "gone"), 1, 0); err != nil {
				t.Fatal(err)
			}
			gone.End()
		case time.Minute:
			gone.Stale(ms)
		}
	}
	return w
}

func epoch() time.Time { return time.Unix(1_700_000_000, 0) }

func TestEvidence(t *testing.T) {
	search := evidence.Search{History: evidenceWindow(t), Lookback: 5 * time.Minute}
	now := epoch().Add(10 * time.Minute).UnixMilli()
	for _, c := range []struct{ name, expr, want string }{
		{"a selector", `a`, ""},
		{"a selector of a series that ended", `gone`, "gone"},
		{"a matcher that no series has", `a{x="2"}`, `a{x="2"}`},
		{"no name", `{x="1"}`, ""},
		{"no name, and no such label", `{x="2"}`, `{x="2"}`},
		{"a name of several", `{__name__=~"a|gone"}`, ""},
		{"parentheses and a sign", `-(gone)`, "gone"},

		{"before it ended", `gone offset 10m`, ""},
		{"when it ended", `gone offset 9m`, "gone offset 9m"},
		{"fixed before it ended", `gone @ 1700000050`, ""},
		{"fixed, and an offset before it began", `gone @ 1700000050 offset 1m`, "gone @ 1700000050.000 offset 1m"},
		{"fixed at the evaluation", `gone @ end()`, "gone @ end()"},
		{"live, fixed at the evaluation", `a @ start()`, ""},
		{"in the future, as far as the last sample counts", `a offset -4m`, ""},
		{"in the future, beyond", `a offset -6m`, "a offset -6m"},

		{"a range that reaches back to it", `rate(gone[11m])`, ""},
		{"a range that ends just after it", `rate(gone[10m])`, "gone[10m]"},
		{"a range with an offset", `count_over_time(gone[1m] offset 9m30s)`, ""},
		{"a range with an offset too far", `count_over_time(gone[1m] offset 11m)`, "gone[1m] offset 11m"},

		{"a subquery that reaches back to it", `max_over_time(gone[6m:10s])`, ""},
		{"a subquery that does not", `max_over_time(gone[4m:10s])`, "gone"},
		{"a subquery with an offset", `max_over_time(gone[1m:10s] offset 9m)`, ""},
		{"a fixed subquery", `max_over_time(gone[1m:10s] @ 1700000060)`, ""},
		{"a range in a subquery", `max_over_time(rate(gone[2m])[9m:10s])`, ""},
		{"a range in a subquery, too short", `max_over_time(rate(gone[1m])[9m:10s])`, "gone[1m]"},
		{"a subquery in a subquery", `max_over_time(max_over_time(gone[3m:10s])[3m:10s])`, ""},
		{"a subquery in a subquery, too short", `max_over_time(max_over_time(gone[2m:10s])[3m:10s])`, "gone"},

		{"both sides, of which the left is missing", `gone == on () a`, "gone"},
		{"both sides, of which the right is missing", `a + on () gone`, "gone"},
		{"and needs both", `a and gone`, "gone"},
		{"or needs either", `gone or a`, ""},
		{"or needs either, the left", `a or gone`, ""},
		{"or without any", `gone or missing`, "gone"},
		{"or over what needs nothing", `gone or vector(0)`, ""},
		{"unless needs the left", `a unless gone`, ""},
		{"unless without the left", `gone unless a`, "gone"},
		{"a comparison with a number", `gone > 5`, "gone"},

		{"absent is about absence", `absent(gone)`, ""},
		{"absent of what is there", `absent(a)`, ""},
		{"absent over time", `absent_over_time(gone[5m])`, ""},
		{"absent beside what is missing", `absent(a) and on () gone`, "gone"},
		{"absent or what is there", `absent(gone) or a == 0`, ""},

		{"a scalar function", `clamp_max(gone, 5)`, "gone"},
		{"a scalar as the threshold", `a > scalar(gone)`, "gone"},
		{"no selector", `vector(1) > 2`, ""},
		{"only the time", `vector(time()) < 0`, ""},
		{"label_replace", `label_replace(gone, "y", "$1", "x", "(.*)")`, "gone"},
		{"label_join of what is there", `label_join(a, "y", ",", "x")`, ""},
		{"histogram_quantile", `histogram_quantile(0.9, rate(gone_bucket[5m])) > 1`, "gone_bucket[5m]"},
		{"histogram_quantile by a scalar", `histogram_quantile(scalar(gone), a)`, "gone"},
		{"timestamp", `time() - timestamp(gone) > 30`, "gone"},

		{"an aggregation", `sum by (x) (gone) == 0`, "gone"},
		{"an aggregation of what is there", `sum without (x) (a) == 0`, ""},
		{"count_values", `count_values("v", gone)`, "gone"},
		{"the parameter of an aggregation", `quantile(scalar(gone), a) > 5`, "gone"},
		{"the parameter of topk", `topk(scalar(b), a) > 5`, ""},
	} {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(c.expr)
		if err != nil {
			t.Fatalf("%s: ParseExpr(%s) = %v, want no error", c.name, c.expr, err)
		}
		if got := search.Missing(expr, now); got != c.want {
			t.Errorf("%s: Missing(%s) = %q, want %q", c.name, c.expr, got, c.want)
		}
	}
}
