package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

const keystoneText = "KeystoneDown failing: Keystone does not answer or rejects the credentials. (value 0, since 2026-01-02T11:58:30Z)\n" +
	"... and 2 consequences: NeutronDown, PortQuotaExhausted\n"

func TestProbes(t *testing.T) {
	stopping := healthy()
	stopping.States[0].Verdict, stopping.States[0].Reason = evaluator.Fail, "shutting down"
	warning := healthy()
	warning.States[0].Verdict = evaluator.Warn
	warning.Rules[4].Status, warning.Rules[4].Warns = evaluator.Failing, true
	dead := failing()
	dead.States[0].Reason = "not alive"
	tests := []struct {
		name, target string
		snap         *evaluator.Snapshot
		code         int
		body         string
	}{
		{"ready", "/ready", healthy(), 200, "ok"},
		{"the alias of ready", "/readyz", healthy(), 200, "ok"},
		{"the deprecated union", "/healthz", healthy(), 200, "ok"},
		{"alive", "/alive", healthy(), 200, "ok"},
		{"the alias of alive", "/livez", healthy(), 200, "ok"},
		{"started", "/started", healthy(), 200, "ok"},
		{"started as Kubernetes names the probe", "/startupz", healthy(), 200, "ok"},
		{"unknown parameters are ignored", "/ready?timeout=10s", healthy(), 200, "ok"},
		{"a warning passes", "/ready", warning, 200, "ok"},
		{"failing, consequences folded under their cause", "/ready", failing(), 503, keystoneText},
		{"the union fails with ready", "/healthz", failing(), 503, keystoneText},
		{"alive while ready fails", "/alive", failing(), 200, "ok"},
		{"a reason of the state itself", "/ready", stopping, 503, "shutting down\n"},
		{"a reason beside failing rules", "/ready", dead, 503, "not alive\n" + keystoneText},
		{"the cause excluded", "/ready?exclude=KeystoneDown", failing(), 503,
			"NeutronDown failing: Neutron does not answer. (value 0, since 2026-01-02T11:58:30Z, caused by KeystoneDown)\n" +
				"... and 1 consequence: PortQuotaExhausted\n"},
		{"everything that decides excluded", "/ready?exclude=KeystoneDown&exclude=NeutronDown&exclude=PortQuotaExhausted", failing(), 200, "ok"},
		{"an exclude that no rule has", "/ready?exclude=Keystone", failing(), 503,
			keystoneText + "warn: no rule of ready is named Keystone: nothing excluded for it\n"},
		{"an exclude that no rule has while ok", "/ready?exclude=b&exclude=a&exclude=", healthy(), 200,
			"ok\nwarn: no rule of ready is named a, b: nothing excluded for it\n"},
		{"everything that decides excluded, and a reason", "/ready?exclude=KeystoneDown&exclude=NeutronDown&exclude=PortQuotaExhausted", dead, 503, "not alive\n"},
		{"an exclude cannot hide the state's own reason", "/ready?exclude=KeystoneDown", stopping, 503, "shutting down\n"},
		{"one rule, ok", "/ready/KubernetesDown", failing(), 200, "[+]KubernetesDown ok\n"},
		{"one rule, failing", "/readyz/KeystoneDown", failing(), 503,
			"[-]KeystoneDown failing: Keystone does not answer or rejects the credentials. (value 0, since 2026-01-02T11:58:30Z)\n"},
		{"one rule, unknown and deciding", "/ready/PortQuotaExhausted", failing(), 503,
			"[-]PortQuotaExhausted unknown: no series matches (since 2026-01-02T11:58:30Z, caused by NeutronDown)\n"},
		{"one rule, a warning", "/ready/PortQuotaLow", failing(), 200,
			"[+]PortQuotaLow failing (severity: warning): 2 ports left. (value 2, since 2026-01-02T11:58:30Z)\n"},
		{"no such rule", "/alive/Nothing", healthy(), 404, "the state alive has no rule of this name: its rules are HandlerDead\n"},
		{"a rule of another state", "/started/KeystoneDown", healthy(), 404, "the state started has no rule of this name: it has no rules\n"},
		{"a trailing slash", "/started/", healthy(), 404, "the state started has no rule of this name: it has no rules\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := server.New(fixed(tt.snap))
			for where, h := range map[string]http.Handler{"Handler": s.Handler(), "Probes": s.Probes(), "Local": s.Local(allowAll)} {
				r := request(t, h, "GET", tt.target, "")
				body := text(t, r)
				if r.StatusCode != tt.code || body != tt.body {
					t.Errorf("%s: GET %s = %d %q, want %d %q", where, tt.target, r.StatusCode, body, tt.code, tt.body)
				}
				checkHeaders(t, r, "text/plain; charset=utf-8", len(tt.body))
			}
		})
	}
}

func checkHeaders(t *testing.T, r *http.Response, contentType string, length int) {
	t.Helper()
	want := map[string]string{
		"Content-Type": contentType, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"X-Vitals-Generation": "7", "Content-Length": fmt.Sprint(length),
	}
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("header %s = %q, want %q", name, got, value)
		}
	}
}

func TestProbeOfASnapshotThatStalled(t *testing.T) {
	snap := healthy()
	snap.AliveMaxAge = 20 * time.Second
	o := fixed(snap)
	now := noon()
	o.Now = func() time.Time { return now }
	s := server.New(o)
	h := s.Handler()
	tests := []struct {
		name, target string
		age          time.Duration
		code         int
		body         string
	}{
		{"as old as it may be", "/ready", 5 * time.Second, 200, "ok"},
		{"the process too", "/-/healthy", 5 * time.Second, 200, "Vitals is healthy.\n"},
		{"and it is ready", "/-/ready", 5 * time.Second, 200, "Vitals is ready.\n"},
		{"too old", "/ready", 5*time.Second + 1, 503, "evaluator stalled\n"},
		{"restart Vitals first", "/-/healthy", 5*time.Second + 1, 503, "The evaluator of Vitals stalled.\n"},
		{"which is not ready", "/-/ready", 5*time.Second + 1, 503, "The evaluator of Vitals stalled.\n"},
		{"the workload lives on", "/alive", 5*time.Second + 1, 200, "ok"},
		{"until the second limit", "/alive", 20 * time.Second, 200, "ok"},
		{"and no longer", "/alive", 20*time.Second + 1, 503, "evaluator stalled\n"},
		{"ready as before", "/ready", time.Hour, 503, "evaluator stalled\n"},
		{"the process as before", "/-/healthy", time.Hour, 503, "The evaluator of Vitals stalled.\n"},
		{"started stays", "/started", time.Hour, 200, "ok"},
		{"no rule is evidence any more", "/alive/HandlerDead", time.Hour, 503, "[+]HandlerDead ok\n[-]alive failing: evaluator stalled\n"},
		{"verbose", "/alive?verbose", time.Hour, 503, "[+]HandlerDead ok\n[-]alive failing: evaluator stalled\nalive check failed\n"},
		{"well again", "/alive", time.Second, 200, "ok"},
	}
	for _, tt := range tests {
		now = noon().Add(tt.age)
		r := request(t, h, "GET", tt.target, "")
		if body := text(t, r); r.StatusCode != tt.code || body != tt.body {
			t.Errorf("%s: GET %s = %d %q, want %d %q", tt.name, tt.target, r.StatusCode, body, tt.code, tt.body)
		}
	}
	now = noon().Add(time.Hour)
	for _, path := range []string{"/-/healthy", "/-/ready"} {
		if r := request(t, s.Probes(), "GET", path, ""); r.StatusCode != 503 {
			t.Errorf("probes: GET %s = %d, want 503 as elsewhere", path, r.StatusCode)
		}
	}
	r := request(t, h, "GET", "/ready", "", "Accept", "application/json")
	if body := text(t, r); r.StatusCode != 503 || !strings.Contains(body, `"output": "evaluator stalled"`) || strings.Contains(body, `"status": "pass"`) {
		t.Errorf("JSON of a stalled snapshot = %d %s", r.StatusCode, body)
	}
}

func TestAFailureThatStalledIsNoEvidence(t *testing.T) {
	o := fixed(failing())
	o.Now = func() time.Time { return noon().Add(time.Minute) }
	r := request(t, server.New(o).Handler(), "GET", "/ready", "")
	if body := text(t, r); r.StatusCode != 503 || body != "evaluator stalled\n" {
		t.Errorf("GET /ready = %d %q, want 503 without the rules of old", r.StatusCode, body)
	}
}

func TestRulesOfOneName(t *testing.T) {
	snap := failing()
	snap.Rules = append(snap.Rules, snap.Rules[1], snap.Rules[1])
	for _, i := range []int{10, 11} {
		snap.States[0].Rules = append(snap.States[0].Rules, i)
		snap.Rules[i].Name = "Twice"
	}
	snap.Rules[10].Status, snap.Rules[10].Decides = evaluator.OK, false
	h := server.New(fixed(snap)).Handler()
	r := request(t, h, "GET", "/ready/Twice", "")
	const want = "[+]Twice ok\n[-]Twice failing: Keystone does not answer or rejects the credentials. (value 0, since 2026-01-02T11:58:30Z)\n"
	if body := text(t, r); r.StatusCode != 503 || body != want {
		t.Errorf("GET /ready/Twice = %d %q, want 503 %q", r.StatusCode, body, want)
	}
	slis := text(t, request(t, h, "GET", "/metrics/slis", ""))
	if !strings.Contains(slis, `kubernetes_healthcheck{name="Twice",type="readyz"} 0`) {
		t.Errorf("one of two rules fails, want 0 in\n%s", slis)
	}
}

func TestProbesWithAnotherFailingStatus(t *testing.T) {
	o := fixed(failing())
	o.FailingStatus = func() int { return 500 }
	h := server.New(o).Handler()
	for _, target := range []string{"/ready", "/ready?verbose", "/ready/KeystoneDown"} {
		if r := request(t, h, "GET", target, ""); r.StatusCode != 500 {
			t.Errorf("GET %s = %d, want 500", target, r.StatusCode)
		}
	}
}

func TestAnotherStateHasAPath(t *testing.T) {
	snap := healthy()
	snap.States = append(snap.States, evaluator.State{Name: "synced", Verdict: evaluator.Pass}, evaluator.State{Name: "metrics", Verdict: evaluator.Pass})
	h := server.New(fixed(snap)).Handler()
	if r := request(t, h, "GET", "/synced", ""); r.StatusCode != 200 || text(t, r) != "ok" {
		t.Errorf("GET /synced = %d, want 200", r.StatusCode)
	}
	if r := request(t, h, "GET", "/metrics", ""); !strings.Contains(text(t, r), "vitals_dependency_up") {
		t.Error("a state of that name hides /metrics")
	}
}

func TestWrongMethods(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	tests := []struct{ target, allow, body string }{
		{"/ready", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/ready?verbose", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/alive/HandlerDead", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/metrics", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/metrics/slis", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/api/v1/status", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/assets/page.js", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/config", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/-/healthy", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/-/ready", "GET, HEAD", "method %s is not allowed here: use GET or HEAD\n"},
		{"/-/reload", "POST, PUT", "method %s is not allowed here: use POST or PUT\n"},
		{"/api/v1/components/watcher", "PUT", "method %s is not allowed here: use PUT\n"},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if strings.Contains(tt.allow, method) {
				continue
			}
			r := request(t, h, method, tt.target, "")
			want := fmt.Sprintf(tt.body, method)
			if body := text(t, r); r.StatusCode != 405 || body != want || r.Header.Get("Allow") != tt.allow {
				t.Errorf("%s %s = %d %q, Allow %q, want 405 %q, Allow %q", method, tt.target, r.StatusCode, body, r.Header.Get("Allow"), want, tt.allow)
			}
			checkHeaders(t, r, "text/plain; charset=utf-8", len(want))
		}
	}
}

func TestPathsThatDoNotExist(t *testing.T) {
	s := server.New(fixed(healthy()))
	const states = "there is nothing at this path: there are /ready, /alive, /started, /STATE/RULE"
	const all = states + ", /, /-/healthy, /-/ready, /-/reload, /api/v1/alerts, /api/v1/components/NAME, /api/v1/explain/STATE, /api/v1/maintenance, /api/v1/maintenance/STATE, /api/v1/openapi.json, /api/v1/rules, /api/v1/silences, /api/v1/silences/RULE, /api/v1/status, /api/v1/verdict/STATE, /badge/STATE.svg, /config, /metrics, /metrics/slis, /plain, /wall\n"
	for _, path := range []string{"//ready", "/./ready", "/Ready", "/nothing", "//", "/metrics/", "/api", "/assets/", "/assets/../ready", "/-/", "*", ""} {
		r := request(t, s.Handler(), "GET", path, "")
		if body := text(t, r); r.StatusCode != 404 || body != all {
			t.Errorf("GET %q = %d %q, want 404 %q", path, r.StatusCode, body, all)
		}
		checkHeaders(t, r, "text/plain; charset=utf-8", len(all))
	}
	const probes = states + ", /-/healthy, /-/ready\n"
	for _, path := range []string{"/", "/metrics", "/api/v1/status", "/config", "/-/reload", "/-/", "/api/v1/components/x"} {
		r := request(t, s.Probes(), "GET", path, "")
		if body := text(t, r); r.StatusCode != 404 || body != probes {
			t.Errorf("probes: GET %q = %d %q, want 404 %q", path, r.StatusCode, body, probes)
		}
	}
}

func TestLongTextsAreBounded(t *testing.T) {
	snap := healthy()
	snap.Rules, snap.States[0].Rules = nil, nil
	zero := 0.0
	for i := range 200 {
		snap.Rules = append(snap.Rules, evaluator.Rule{
			Name: fmt.Sprintf("Rule%d", i), State: "ready", Status: evaluator.Failing, Decides: true, Observed: &zero, Since: noon(),
			Summary: "first line\nsecond \x00 line \xff" + strings.Repeat("é", 1000), AlertCount: 3,
		})
		snap.States[0].Rules = append(snap.States[0].Rules, i)
	}
	snap.States[0].Verdict, snap.States[0].Deciding = evaluator.Fail, snap.States[0].Rules
	h := server.New(fixed(snap)).Handler()
	body := text(t, request(t, h, "GET", "/ready", ""))
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if len(body) > 4096 || !strings.HasPrefix(lines[len(lines)-1], "... and 19") {
		t.Errorf("body has %d bytes and ends in %q, want at most 4096 and the number of lines left out", len(body), lines[len(lines)-1])
	}
	for _, l := range lines[:len(lines)-1] {
		if len(l) > 512 || !strings.HasSuffix(l, "... (value 0, since 2026-01-02T12:00:00Z, 3 alerts)") || strings.Contains(l, "\x00") {
			t.Errorf("line = %q, want at most 512 bytes with the facts at the end", l)
		}
	}
}

func TestHead(t *testing.T) {
	for _, snap := range []*evaluator.Snapshot{healthy(), failing()} {
		srv := serve(t, server.New(fixed(snap)).Handler())
		for _, target := range []string{"/ready", "/ready?verbose", "/ready/KeystoneDown", "/api/v1/status", "/", "/-/healthy", "/nothing"} {
			get, head := fetch(t, "GET", srv+target), fetch(t, "HEAD", srv+target)
			if head.code != get.code || head.body != "" || head.length != get.length || head.kind != get.kind {
				t.Errorf("HEAD %s = %+v, want as GET without a body: %+v", target, head, get)
			}
		}
	}
}

func TestConcurrentReadersSeeWholeGenerations(t *testing.T) {
	good, bad := healthy(), failing()
	bad.Generation = 8
	var mu sync.Mutex
	current := good
	o := fixed(nil)
	o.Snapshot = func() *evaluator.Snapshot { mu.Lock(); defer mu.Unlock(); return current }
	h := server.New(o).Handler()
	var wg sync.WaitGroup
	for reader := range 8 {
		wg.Go(func() {
			for i := range 200 {
				target := []string{"/ready", "/ready?verbose", "/metrics", "/api/v1/status"}[(i+reader)%4]
				r := request(t, h, "GET", target, "")
				down := strings.Contains(text(t, r), `"keystone"} 0`)
				switch generation := r.Header.Get("X-Vitals-Generation"); {
				case target == "/metrics" && down != (generation == "8"):
					t.Errorf("metrics of generation %s: keystone down is %v", generation, down)
				case (i+reader)%4 < 2 && (r.StatusCode == 503) != (generation == "8"):
					t.Errorf("GET %s of generation %s = %d", target, generation, r.StatusCode)
				}
			}
		})
	}
	for range 100 {
		for _, next := range []*evaluator.Snapshot{bad, good} {
			mu.Lock()
			current = next
			mu.Unlock()
			request(t, h, "GET", "/ready", "")
		}
	}
	wg.Wait()
}
