package evaluator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/evaluator"
)

func TestStateOfASnapshot(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	s := &evaluator.Snapshot{At: at, MaxAge: 5 * time.Second, AliveMaxAge: time.Minute, States: []evaluator.State{
		{Name: "ready", Verdict: evaluator.Warn, Deciding: []int{1}},
		{Name: "alive", Verdict: evaluator.Fail, Deciding: []int{2}},
		{Name: "gold", Verdict: evaluator.Pass},
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
		{"stalled, and neither ready nor alive", "gold", longer, s.States[2], true},
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
