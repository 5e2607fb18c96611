package server_test

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/verdicts"
)

// The text of a rule without data shows how long its last status still counts.
func TestHeldRule(t *testing.T) {
	snap := healthy()
	r := &snap.Rules[0]
	r.Status, r.Reason, r.NoData, r.HeldFor = evaluator.Unknown, "no series matches", "hold 5m", 3*time.Minute
	h := server.New(fixed(snap)).Handler()
	const want = "[+]KubernetesDown unknown (no_data: hold 5m): no series matches (since 2026-01-02T11:00:00Z, held for 3m more)\n"
	if got := text(t, request(t, h, "GET", "/ready/KubernetesDown", "")); got != want {
		t.Errorf("the rule that is held passing = %q, want %q", got, want)
	}

	r.HeldFor, r.Decides = 0, true
	const ended = "[-]KubernetesDown unknown: no series matches (since 2026-01-02T11:00:00Z)\n"
	h = server.New(fixed(snap)).Handler()
	if got := text(t, request(t, h, "GET", "/ready/KubernetesDown", "")); got != ended {
		t.Errorf("the rule whose hold has ended = %q, want %q", got, ended)
	}
}

// A pending rule that was never ok fails its state with a text of its own, and stays
// pending.
func TestStartingRule(t *testing.T) {
	snap := healthy()
	r := &snap.Rules[1]
	r.Status, r.Starting, r.Decides, r.Summary = evaluator.Pending, true, true, "Keystone rejects the credentials."
	snap.States[0].Verdict, snap.States[0].Deciding = evaluator.Fail, []int{1}
	h := server.New(fixed(snap)).Handler()
	for target, want := range map[string]string{
		"/ready":              "starting: KeystoneDown pending: Keystone rejects the credentials. (since 2026-01-02T11:00:00Z)\n",
		"/ready/KeystoneDown": "[-]KeystoneDown starting: pending: Keystone rejects the credentials. (since 2026-01-02T11:00:00Z)\n",
	} {
		res := request(t, h, "GET", target, "")
		if got := text(t, res); got != want || res.StatusCode != 503 {
			t.Errorf("GET %s = %d, %q, want 503, %q", target, res.StatusCode, got, want)
		}
	}
	v, ok := verdicts.Of(snap, "ready", noon())
	if got := execprobe.ResultOf(&v); !ok || got.Outcome != execprobe.Unknown || v.Status != "pending" {
		t.Errorf("the exec probe's outcome is %s for a rule that is %s, want unknown and pending", got.Outcome, v.Status)
	}
}
