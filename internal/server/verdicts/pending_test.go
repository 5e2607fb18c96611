package verdicts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server/verdicts"
)

// noon is when the snapshot was evaluated.
func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// healthy is a snapshot of a state that passes, with five rules, of which the last one only warns,
// and with two rules that it does not have.
func healthy() *evaluator.Snapshot {
	since := noon().Add(-time.Hour)
	s := &evaluator.Snapshot{
		Generation: 7, At: noon(), MaxAge: 5 * time.Second,
		States: []evaluator.State{{Name: "ready", Verdict: evaluator.Pass, Since: since, Rules: []int{0, 1, 2, 3, 4}}},
	}
	for _, name := range []string{"KubernetesDown", "KeystoneDown", "NeutronDown", "PortQuotaExhausted", "PortQuotaLow", "HandlerDead", "TokenNearExpiry"} {
		s.Rules = append(s.Rules, evaluator.Rule{Name: name, State: "ready", Severity: "critical", For: 10 * time.Second, Status: evaluator.OK, Since: since})
	}
	s.Rules[4].Severity, s.Rules[5].State, s.Rules[6].State = "warning", "alive", ""
	return s
}

// wait makes a rule pending for so long.
func wait(r *evaluator.Rule, since time.Duration) {
	r.Status, r.Since = evaluator.Pending, noon().Add(-since)
	r.Alerts, r.AlertCount = []evaluator.Alert{{ActiveAt: noon().Add(-since)}}, 1
}

// The line of the exec probe names the pending rules of a state that passes, and when they
// take effect. The exit code stays.
func TestPendingRulesInTheVerdict(t *testing.T) {
	snap := healthy()
	wait(&snap.Rules[1], 3*time.Second)
	wait(&snap.Rules[4], 2500*time.Millisecond) // a warning
	wait(&snap.Rules[6], time.Second)           // of no state
	snap.Rules[2].Observe = true
	wait(&snap.Rules[2], time.Second)
	v, _ := verdicts.Of(snap, "ready", noon())
	want := []string{"KeystoneDown pending (failing in 7s)", "PortQuotaLow pending (warning in 8s)"}
	if diff := cmp.Diff(want, v.Pending); diff != "" {
		t.Errorf("Pending (-want +got):\n%s", diff)
	}
	v.Notes = []string{"keystone: slow"}
	r := execprobe.ResultOf(&v)
	const line = "ok 0 ready: 5 rules, since 2026-01-02T11:00:00Z; KeystoneDown pending (failing in 7s); PortQuotaLow pending (warning in 8s); keystone: slow\n"
	if got := execprobe.Plain.Render(r); got != line || execprobe.Plain.Code(r) != 0 {
		t.Errorf("the probe prints %q and exits with %d, want %q and 0", got, execprobe.Plain.Code(r), line)
	}
	// The daemon sends it as text.
	got := execprobe.Read(200, v.Text(), "ready")
	if diff := cmp.Diff(r, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the verdict as text (-want +got):\n%s", diff)
	}
	// It may be about to fail, or another part of the state fails already.
	if v, _ := verdicts.Of(snap, "ready", noon().Add(4*time.Second)); v.Pending[0] != "KeystoneDown pending (failing in 3s)" {
		t.Errorf("4 s later: %q, want 3s left", v.Pending)
	}
	snap.States[0].Verdict, snap.States[0].Reason = evaluator.Fail, "shutting down"
	if v, _ := verdicts.Of(snap, "ready", noon()); v.Pending != nil {
		t.Errorf("Pending of a state that fails = %q, want none", v.Pending)
	}
}

func TestPendingRulesAreBounded(t *testing.T) {
	snap := healthy()
	for i := range 1000 {
		r := snap.Rules[0]
		r.Name = fmt.Sprintf("%s%d", strings.Repeat("Long", 100), i)
		wait(&r, time.Second)
		snap.States[0].Rules = append(snap.States[0].Rules, len(snap.Rules))
		snap.Rules = append(snap.Rules, r)
	}
	v, _ := verdicts.Of(snap, "ready", noon())
	if all := strings.Join(v.Pending, "; "); len(v.Pending) != 4 || len(all) > 400 || v.Pending[3] != "997 more rules pending" {
		t.Errorf("Pending = %d bytes, %q, want three rules and a count", len(all), v.Pending)
	}
}
