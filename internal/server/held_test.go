package server_test

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
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
