package history

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// A silence and maintenance are events at their begin and end, with who and why. They change
// no status.
func TestOverridesAreEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(2 * time.Second)
		silence := evaluator.Override{Rule: "KeystoneDown", Until: time.Now().Add(2 * time.Hour), By: "root (uid 0)", Reason: "upgrade"}
		maintenance := evaluator.Override{State: "ready", By: "uid 7"}
		changes := []evaluator.OverrideChange{
			{Override: silence}, {Override: maintenance}, {Override: silence, Ended: true}, {Override: maintenance, Ended: true, EndedBy: "uid 8"},
			{Override: evaluator.Override{Rule: "Gone"}, Ended: true},
		}
		s.change = func(snap *evaluator.Snapshot) {
			snap.Changes = changes[:1]
			changes = changes[1:]
		}
		s.pass(5 * time.Second)
		events, _ := s.history.Events(Query{After: s.history.StartID()})
		var shown []string
		for _, e := range events {
			shown = append(shown, Line(e))
		}
		equal(t, []string{
			"2000-01-01 00:00:03  rule      KeystoneDown silenced until 02:00 UTC by root (uid 0): upgrade",
			"2000-01-01 00:00:04  state     ready maintenance until it is switched off by uid 7",
			"2000-01-01 00:00:05  rule      KeystoneDown silence ended by itself (begun by root (uid 0): upgrade)",
			"2000-01-01 00:00:06  state     ready maintenance ended by uid 8 (begun by uid 7)",
			"2000-01-01 00:00:07  rule      Gone silence ended by itself",
		}, shown)
		for _, e := range events[:4] {
			if e.From != OK || e.To != OK || e.Action == "" {
				t.Errorf("event = %+v, want an action and the status of that moment", e)
			}
		}
		of, _ := s.history.Events(Query{Rule: "KeystoneDown"})
		equal(t, 2, len(of))
	})
}

// A rule that fails during a silence has its end in the explanation.
func TestSilencedRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		o := evaluator.Override{Rule: "KeystoneDown", Until: time.Now().Add(2 * time.Hour)}
		s.change = func(snap *evaluator.Snapshot) { snap.Rules[0].Silence, snap.Rules[0].Observe = &o, true }
		s.set(evaluator.Failing)
		events, _ := s.history.Events(Query{Rule: "KeystoneDown"})
		equal(t, o.Until.UTC(), events[0].Rules[0].SilencedUntil.UTC())
	})
}

// The verdict at the end has the reason of the failure, not that of maintenance that ended since.
func TestOverridesAreNoReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.set(evaluator.Failing)
		s.change = func(snap *evaluator.Snapshot) {
			snap.Changes = []evaluator.OverrideChange{{Override: evaluator.Override{State: "ready"}, Ended: true, EndedBy: "root"}}
		}
		s.pass(time.Second)
		equal(t, "ready failing since 00:00:01: KeystoneDown", s.history.End(time.Now()))
	})
}
