package evaluator_test

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// TestTimesFollowTheWallClock is about what happens when the clock steps: the times
// of timers are moved along, and compared with the wall clock afterwards. A
// monotonic reading in one of them would be moved too, and be off by the step.
// Only the snapshot's own time keeps it, for the stall guard.
func TestTimesFollowTheWallClock(t *testing.T) {
	c, _ := gauge("up")
	e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
	defer stop()
	for len(e.Snapshot().Rules[0].Alerts) == 0 {
		<-e.Changed()
	}
	if err := e.Apply(evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}}); err != nil {
		t.Fatal(err)
	}
	changed := e.Changed()
	<-changed
	s := e.Snapshot()
	rule, col := s.Rules[0], s.Collectors[0]
	for name, ts := range map[string]time.Time{
		"Started": s.Started, "State.Since": s.States[0].Since, "Rule.Since": rule.Since, "Alert.ActiveAt": rule.Alerts[0].ActiveAt,
		"Collector.LastRun": col.LastRun, "Collector.LastSuccess": col.LastSuccess, "Reload.At": s.Reload.At, "Reload.LastSuccess": s.Reload.LastSuccess,
	} {
		if ts.IsZero() || ts != ts.Round(0) {
			t.Errorf("%s = %v, want a time without a monotonic reading", name, ts)
		}
	}
	if s.At == s.At.Round(0) {
		t.Errorf("At = %v, want a time with a monotonic reading", s.At)
	}
}
