package prometheus

import (
	"slices"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// FuzzAnswer parses the body of an answer. An error has one of the reasons, and a series of the
// result has a number.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"a"},"value":[1700000000.781,"1"]}]}}`,
		`{"status":"success","warnings":["w"],"isPartial":true,"data":{"resultType":"scalar","result":[1,"NaN"]}}`,
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"1"]]}]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{}]}]}}`,
		`{"status":"error","errorType":"timeout","error":"query timed out"}`, `{}`, `null`, `[`, `<html>`,
	} {
		f.Add(200, []byte(body))
		f.Add(503, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a, err := parseAnswer(status, body)
		reason := collectors.ReasonOf(err, func(error) remote.Reason { return "none" })
		if err != nil && !slices.Contains(remote.Reasons(), reason) && !slices.Contains(query.Reasons(), reason) {
			t.Fatalf("parseAnswer() = %v with the reason %q, want one of the reasons", err, reason)
		}
		if err == nil && status != 200 || len(a.warnings) > maxWarnings || len(a.warnings) > a.count {
			t.Fatalf("parseAnswer(%d) = %+v, %v", status, a, err)
		}
		result := query.Query{Labels: []string{"job"}}.Series()
		for _, s := range a.series {
			if err := result.AddSeries(s.labels, s.value); err != nil && !slices.Contains(query.Reasons(), query.ReasonOf(err)) {
				t.Fatalf("AddSeries(%v) = %v, want one of the reasons", s, err)
			}
		}
	})
}

// FuzzExpr checks an expression of the configuration. One that is accepted is not empty.
func FuzzExpr(f *testing.F) {
	for _, text := range []string{`sum by (a) (rate(b{c="d"}[5m])) > 1`, `1`, `"x"`, `up[5m]`, `((((`, `mad_over_time(a[5m])`, `a + fill(0) b`, `rate(a[step()] anchored)`, "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := checkExpr(text); err == nil && (text == "" || len(text) > maxExpr) {
			t.Fatalf("checkExpr(%q) = nil, want an error", text)
		}
	})
}
