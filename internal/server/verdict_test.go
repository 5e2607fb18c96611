package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server"
)

// verdictOf requests a state as the exec probe does.
func verdictOf(t *testing.T, s *server.Server, state string) execprobe.Verdict {
	t.Helper()
	r := request(t, s.Local(allowAll), "GET", "/api/v1/verdict/"+state, "")
	body := text(t, r)
	var v execprobe.Verdict
	if err := json.Unmarshal([]byte(body), &v); err != nil || r.StatusCode != 200 {
		t.Fatalf("GET verdict/%s = %d %q, want 200 and JSON: %v", state, r.StatusCode, body, err)
	}
	return v
}

// The first line of the exec probe is the first line of the HTTP probe.
func TestVerdictMatchesTheProbe(t *testing.T) {
	for name, snap := range map[string]*evaluator.Snapshot{"healthy": healthy(), "failing": failing()} {
		s := server.New(fixed(snap))
		for _, state := range []string{"ready", "alive", "started", "livez"} {
			v := verdictOf(t, s, state)
			if v.State != state {
				t.Errorf("%s: state = %q, want %q as in the request", name, v.State, state)
			}
			r := request(t, s.Handler(), "GET", "/"+state, "")
			body := text(t, r)
			if passes := r.StatusCode == 200; passes != (v.Verdict != "fail") {
				t.Errorf("%s: verdict of %s = %s, want as /%s, %d", name, state, v.Verdict, state, r.StatusCode)
			}
			if v.Verdict == "fail" && strings.Join(v.Lines, "\n")+"\n" != body {
				t.Errorf("%s: lines of %s = %q, want as /%s, %q", name, state, v.Lines, state, body)
			}
		}
	}
	v := verdictOf(t, server.New(fixed(failing())), "ready")
	if v.Rule != "KeystoneDown" || v.Status != "failing" || v.Rules != 8 || v.Failing == 0 || v.Unknown == 0 || v.Generation != 7 {
		t.Errorf("verdict = %+v, want KeystoneDown failing of 8 rules", v)
	}
}

// A client that accepts text gets the same in lines.
func TestVerdictAsText(t *testing.T) {
	s := server.New(fixed(failing()))
	want := verdictOf(t, s, "ready")
	r := request(t, s.Local(allowAll), "GET", "/api/v1/verdict/ready", "", "Accept", execprobe.ContentType)
	if got := text(t, r); got != string(want.Text()) || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("the verdict as %s = %q, want %q", r.Header.Get("Content-Type"), got, want.Text())
	}
}

func TestVerdictOfAStalledEvaluator(t *testing.T) {
	o := fixed(failing())
	o.Now = func() time.Time { return noon().Add(time.Minute) }
	v := verdictOf(t, server.New(o), "ready")
	if !v.Stalled || v.Verdict != "fail" || v.Rule != "" || v.AgeSeconds != 60 {
		t.Errorf("verdict = %+v, want one that is stalled, 60 s old, and by no rule", v)
	}
}

// Before the second limit alive passes, and its verdict has a note that it is old.
func TestVerdictOfAliveWhileTheEvaluatorStalled(t *testing.T) {
	snap := healthy()
	snap.AliveMaxAge = time.Minute
	o := fixed(snap)
	for _, tt := range []struct {
		age  time.Duration
		want string
	}{
		{5 * time.Second, "ok 0 alive: 1 rule, since 2026-01-02T11:00:00Z"},
		{30 * time.Second, "ok 0 alive: 1 rule, since 2026-01-02T11:00:00Z; evaluator stalled: the verdict is 30 s old"},
		{61 * time.Second, "stale 0 alive: evaluator stalled: the verdict is 61 s old"},
	} {
		o.Now = func() time.Time { return noon().Add(tt.age) }
		v := verdictOf(t, server.New(o), "alive")
		r := execprobe.ResultOf(&v)
		if got := fmt.Sprint(r.Outcome, " ", r.ExitCode, " ", r.Text); got != tt.want {
			t.Errorf("after %s: result = %q, want %q", tt.age, got, tt.want)
		}
	}
}

func TestVerdictIsBounded(t *testing.T) {
	snap := healthy()
	ready := &snap.States[0]
	ready.Verdict = evaluator.Fail
	ready.Rules = nil
	for i := range 1000 {
		snap.Rules = append(snap.Rules, evaluator.Rule{Name: fmt.Sprint("Rule", i), State: "ready", Status: evaluator.Failing, Decides: true, Summary: strings.Repeat("x", 900), ExitCode: 12})
		ready.Rules = append(ready.Rules, len(snap.Rules)-1)
	}
	ready.Deciding = ready.Rules
	v := verdictOf(t, server.New(fixed(snap)), "ready")
	size := 0
	for _, line := range v.Lines {
		size += len(line) + 1
	}
	if size > 3<<10 || size < 2<<10 || v.ExitCode != 12 || v.Failing != 1000 || !strings.HasPrefix(v.Lines[len(v.Lines)-1], "... and 99") {
		t.Errorf("verdict = %d bytes, exit code %d, %d failing, want at most 3 KiB with the number of omitted lines", size, v.ExitCode, v.Failing)
	}
}

func TestVerdictRefuses(t *testing.T) {
	s := server.New(fixed(healthy()))
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/api/v1/verdict/nothing", 404}, {"GET", "/api/v1/verdict/", 404}, {"GET", "/api/v1/verdict/ready/KeystoneDown", 404},
		{"POST", "/api/v1/verdict/ready", 405}, {"HEAD", "/api/v1/verdict/ready", 200},
	} {
		if r := request(t, s.Handler(), tt.method, tt.path, ""); r.StatusCode != tt.want {
			t.Errorf("%s %s = %d, want %d", tt.method, tt.path, r.StatusCode, tt.want)
		}
	}
	if r := request(t, s.Probes(), "GET", "/api/v1/verdict/ready", ""); r.StatusCode != 404 {
		t.Errorf("probes: GET verdict = %d, want 404", r.StatusCode)
	}
}
