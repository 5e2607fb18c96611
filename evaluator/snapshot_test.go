package evaluator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/states"
)

func TestStateOfASnapshot(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	s := &evaluator.Snapshot{At: at, MaxAge: 5 * time.Second, AliveMaxAge: time.Minute, States: []evaluator.State{
		{Name: "ready", Verdict: evaluator.Warn, Deciding: []int{1}},
		{Name: "alive", Verdict: evaluator.Fail, Deciding: []int{2}},
		{Name: "gold", Verdict: evaluator.Pass},
		{Name: "tolerant", Verdict: evaluator.Pass, Tolerant: true},
		{Name: "started", Verdict: evaluator.Pass},
	}}
	stalled, longer := at.Add(5*time.Second+1), at.Add(time.Minute+1)
	for _, c := range []struct {
		name, state string
		now         time.Time
		want        evaluator.State
		ok          bool
	}{
		{"fresh", "ready", at.Add(5 * time.Second), s.States[0], true},
		{"stalled while only a rule warned", "ready", stalled, evaluator.State{Name: "ready", Verdict: evaluator.Fail, Reason: "evaluator stalled"}, true},
		{"stalled, and alive keeps its verdict", "alive", at.Add(time.Minute), s.States[1], true},
		{"stalled for longer", "ready", longer, evaluator.State{Name: "ready", Verdict: evaluator.Fail, Reason: "evaluator stalled"}, true},
		{"stalled for longer while a rule failed", "alive", longer, evaluator.State{Name: "alive", Verdict: evaluator.Fail, Reason: "evaluator stalled", Deciding: []int{2}}, true},
		{"a further state, fresh", "gold", at.Add(5 * time.Second), s.States[2], true},
		{"stalled, and a further state", "gold", stalled, evaluator.State{Name: "gold", Verdict: evaluator.Fail, Reason: "evaluator stalled"}, true},
		{"stalled, and a state that passes without data", "tolerant", at.Add(time.Minute), s.States[3], true},
		{"stalled for longer, and a state that passes without data", "tolerant", longer, evaluator.State{Name: "tolerant", Verdict: evaluator.Fail, Reason: "evaluator stalled", Tolerant: true}, true},
		{"stalled, and the process had started", "started", longer, s.States[4], true},
		{"unknown", "golden", at, evaluator.State{}, false},
	} {
		got, ok := s.State(c.state, c.now)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
			t.Errorf("%s: State(%q) = _, %t, want %t, and the state (-want +got):\n%s", c.name, c.state, ok, c.ok, diff)
		}
	}
	if s.States[0].Verdict != evaluator.Warn || len(s.States[0].Deciding) != 1 {
		t.Errorf("the snapshot's state = %+v after it was read, want it unchanged", s.States[0])
	}
}

// The word of a state that fails is that of the rule that decides, whatever follows from it.
func TestWordOfAState(t *testing.T) {
	rules := []evaluator.Rule{
		{Name: "Failing", Status: evaluator.Failing},
		{Name: "Unknown", Status: evaluator.Unknown},
		{Name: "Starting", Status: evaluator.Pending},
		{Name: "Consequence", Status: evaluator.Unknown, Cause: "Failing"},
		{Name: "ConsequenceOfAnotherState", Status: evaluator.Unknown, Cause: "Elsewhere"},
	}
	for _, tt := range []struct {
		name, reason string
		verdict      evaluator.Verdict
		deciding     []int
		want         string
	}{
		{"passes", "", evaluator.Pass, nil, states.OK},
		{"warns", "", evaluator.Warn, []int{1}, states.Warning},
		{"a failing rule", "", evaluator.Fail, []int{0, 1}, states.Failing},
		{"a rule without data", "", evaluator.Fail, []int{1, 0}, states.Unknown},
		{"a rule that was never ok", "", evaluator.Fail, []int{2}, states.Unknown},
		{"a consequence before its cause", "", evaluator.Fail, []int{3, 0}, states.Failing},
		{"a consequence of another state", "", evaluator.Fail, []int{4}, states.Unknown},
		{"nothing is measured yet", evaluator.ReasonStarting, evaluator.Fail, nil, states.Unknown},
		{"no rules", evaluator.ReasonNoRules, evaluator.Fail, nil, states.Failing},
		{"shutting down", evaluator.ReasonShuttingDown, evaluator.Fail, nil, states.Failing},
		{"stalled with a rule without data", evaluator.ReasonStalled, evaluator.Fail, []int{1}, states.Failing},
	} {
		s := evaluator.Snapshot{Rules: rules}
		st := evaluator.State{Name: "ready", Verdict: tt.verdict, Reason: tt.reason, Deciding: tt.deciding}
		if got := s.Word(&st); got != tt.want {
			t.Errorf("%s: Word() = %s, want %s", tt.name, got, tt.want)
		}
	}
}
