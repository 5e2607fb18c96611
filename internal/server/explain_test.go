package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server"
)

// explainer answers with an explanation of its generation and counts.
type explainer struct {
	generation uint64
	queries    []string
}

func (e *explainer) explain(_ context.Context, state string, o explain.Options, _ time.Time) (*explain.Explanation, error) {
	e.queries = append(e.queries, fmt.Sprintf("%s %q %t", state, o.Rule, o.All))
	if state == "platinum" {
		return nil, &explain.NotFoundError{What: "state", Name: state, Known: []string{"ready", "alive"}}
	}
	x := explanation()
	x.State, x.Generation = state, e.generation
	return x, nil
}

// explanation is one of a rule that fails, with a bit of everything.
func explanation() *explain.Explanation {
	since := noon().Add(-90 * time.Second)
	zero := explain.Number(0)
	holds := true
	return &explain.Explanation{
		State: "ready", Verdict: "fail", Status: "failing", Since: since, Generation: 7, At: noon(), RuleCount: 5, Deciding: 1,
		Rules: []*explain.Rule{{
			Name: "KeystoneDown", Group: "kuryr-controller", File: "builtin:kuryr-controller", State: "ready", Severity: "critical",
			Status: "failing", Since: since, Decides: true, NoData: "fail", ForSeconds: 10, Summary: "Keystone does not answer or rejects the credentials.",
			Alerts: []explain.Alert{{
				Labels: map[string]string{"alertname": "KeystoneDown", "dependency": "keystone"}, Firing: true, ActiveAt: since.Add(-10 * time.Second), FiresAt: since,
			}}, AlertCount: 1, Expr: `vitals_dependency_up{dependency="keystone"} == 0`,
			Tree: &explain.Node{
				Expr: `vitals_dependency_up{dependency="keystone"} == 0`, Kind: explain.KindComparison, Type: "vector", Count: 1,
				Series:     []explain.Series{{Labels: map[string]string{"__name__": "vitals_dependency_up", "dependency": "keystone"}, Value: &zero}},
				Comparison: &explain.Comparison{Op: "==", Threshold: &zero, True: 1, Of: 1},
				Children: []*explain.Node{
					{
						Expr: `vitals_dependency_up{dependency="keystone"}`, Kind: explain.KindSelector, Type: "vector", Count: 1, Collectors: []string{"keystone"},
						Series: []explain.Series{{
							Labels: map[string]string{"__name__": "vitals_dependency_up", "dependency": "keystone"}, Value: &zero, Holds: &holds,
							SampleAt: noon().Add(-4 * time.Second), Collector: "keystone",
						}},
					},
					{Expr: "0", Kind: explain.KindNumber, Type: "scalar", Value: &zero},
				},
			},
		}},
		Collectors: []explain.Collector{{
			Name: "keystone", Kind: "keystone", External: true, Ran: true, Error: "get token: context deadline exceeded",
			LastRun: noon().Add(-4 * time.Second), LastSuccess: noon().Add(-95 * time.Second), IntervalSeconds: 10,
		}},
	}
}

func TestExplainIsTheWholeExplanation(t *testing.T) {
	o := fixed(failing())
	o.Explain = (&explainer{generation: 7}).explain
	s := server.New(o)
	r := request(t, s.Handler(), "GET", "/api/v1/explain/ready", "")
	body := text(t, r)
	golden(t, "explain.json", body)
	checkHeaders(t, r, "application/json", len(body))
	local := request(t, s.Local(nil), "GET", "/api/v1/explain/ready", "")
	if got := text(t, local); local.StatusCode != 200 || got != body {
		t.Errorf("over the Unix socket = %d, %d bytes, want the same", local.StatusCode, len(got))
	}
	if probe := request(t, s.Probes(), "GET", "/api/v1/explain/ready", ""); probe.StatusCode != 404 {
		t.Errorf("on the listener for probes = %d, want 404", probe.StatusCode)
	}
}

func TestExplainAnswers(t *testing.T) {
	tests := []struct {
		name, method, target string
		want                 int
		body, queries        string
	}{
		{"a state", "GET", "/api/v1/explain/ready", 200, "{", `ready "" false`},
		{"as Kubernetes calls it", "GET", "/api/v1/explain/livez", 200, "{", `alive "" false`},
		{"every rule", "GET", "/api/v1/explain/ready?all", 200, "{", `ready "" true`},
		{"one rule", "HEAD", "/api/v1/explain/ready?rule=KeystoneDown", 200, "", `ready "KeystoneDown" false`},
		{"one rule and every rule", "GET", "/api/v1/explain/ready?rule=KeystoneDown&all=1", 200, "{", `ready "KeystoneDown" false`},
		{"no such state", "GET", "/api/v1/explain/platinum", 404, "there is no state \"platinum\": expected one of ready, alive\n", `platinum "" false`},
		{"another method", "POST", "/api/v1/explain/ready", 405, "method POST is not allowed here: use GET or HEAD\n", ""},
	}
	for _, tt := range tests {
		e := &explainer{generation: 8}
		o := fixed(failing())
		o.Explain = e.explain
		r := request(t, server.New(o).Handler(), tt.method, tt.target, "")
		body := text(t, r)
		if r.StatusCode != tt.want || !strings.HasPrefix(body, tt.body) && tt.method != "HEAD" {
			t.Errorf("%s = %d %q, want %d %q", tt.name, r.StatusCode, body, tt.want, tt.body)
		}
		if got := strings.Join(e.queries, ", "); got != tt.queries {
			t.Errorf("%s: the evaluator was queried for %q, want %q", tt.name, got, tt.queries)
		}
		if got := r.Header.Get("X-Vitals-Generation"); tt.want == 200 && got != "8" {
			t.Errorf("%s: X-Vitals-Generation = %s, want that of the explanation: 8", tt.name, got)
		}
		if got := r.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control = %q, want no-store", tt.name, got)
		}
	}
	r := request(t, server.New(fixed(failing())).Handler(), "GET", "/api/v1/explain/ready", "")
	if body := text(t, r); r.StatusCode != 404 || body != "this process has no explanations\n" {
		t.Errorf("without an evaluator = %d %q, want 404", r.StatusCode, body)
	}
}

func TestExplanationsAreRenderedOnceAGeneration(t *testing.T) {
	e := &explainer{generation: 7}
	p := newPublisher(failing())
	o := p.options()
	o.Explain = e.explain
	h := server.New(o).Handler()
	expectQueries := func(want int, targets ...string) {
		t.Helper()
		before := len(e.queries)
		for _, target := range targets {
			if r := request(t, h, "GET", "/api/v1/explain/"+target, ""); r.StatusCode != 200 {
				t.Errorf("%s = %d, want 200", target, r.StatusCode)
			}
		}
		if got := len(e.queries) - before; got != want {
			t.Errorf("%v queried the evaluator %d times, want %d", targets, got, want)
		}
	}
	expectQueries(1, "ready", "ready", "readyz", "ready?verbose")
	expectQueries(2, "ready?all", "ready?rule=A", "ready?all=1", "ready?rule=A&all")
	next := failing()
	next.Generation = 8
	p.publish(next)
	e.generation = 9 // It has moved on since.
	expectQueries(2, "ready", "ready")
	next = failing()
	next.Generation = 9
	p.publish(next)
	expectQueries(0, "ready")
	expectQueries(70, many("ready?rule=R", 70)...)
	expectQueries(70-63, many("ready?rule=R", 70)...)
	e.generation = 10
	expectQueries(1, "alive")
	e.generation = 9 // Its request came before, its response after that of generation 10.
	expectQueries(1, "started")
	next = failing()
	next.Generation = 10
	p.publish(next)
	expectQueries(1, "alive", "started")
}

func many(prefix string, n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(prefix, i))
	}
	return all
}

// What was rendered before the evaluator stalled is no longer the truth.
func TestExplanationsOfAStalledEvaluator(t *testing.T) {
	e := &explainer{generation: 7}
	o := fixed(failing())
	late := time.Duration(0)
	o.Now = func() time.Time { return noon().Add(late) }
	o.Explain = e.explain
	h := server.New(o).Handler()
	for range 2 {
		request(t, h, "GET", "/api/v1/explain/ready", "")
		late = time.Minute
	}
	if len(e.queries) != 2 {
		t.Errorf("the evaluator was queried %d times, want 2", len(e.queries))
	}
}

func TestExplainDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		o := fixed(failing())
		o.Explain = func(ctx context.Context, _ string, _ explain.Options, _ time.Time) (*explain.Explanation, error) {
			if calls.Add(1) > 1 {
				return nil, evaluator.ErrStopped
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		h := server.New(o).Handler()
		start := time.Now()
		for _, want := range []string{"the evaluator does not answer in time\n", "the evaluator has stopped\n"} {
			r := request(t, h, "GET", "/api/v1/explain/ready", "")
			if body := text(t, r); r.StatusCode != 503 || body != want {
				t.Errorf("= %d %q, want 503 %q", r.StatusCode, body, want)
			}
		}
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("waited %s, want 3s", waited)
		}
	})
}
