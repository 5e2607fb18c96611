package kubereport

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

// Events of an earlier process are not reported, also where the clock was ahead then.
func TestEventsOfAnEarlierProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(time.Hour)
		l := resumeLab(t, Options{Events: true}, history.Past{Events: []*history.Event{{
			ID: uint64(at.UnixMicro()), At: at, Subject: history.Subject{Kind: history.State, Name: evaluator.Ready}, From: history.OK, To: history.Failing, Reason: "no rules",
		}}})
		l.keep(snapshot(evaluator.Pass), time.Minute)
		l.wantEvents("of an earlier process")
		l.keep(snapshot(evaluator.Fail), time.Second)
		if all := l.flush(); len(all) != 1 {
			t.Errorf("%d requests of a failure, want 1", len(all))
		}
	})
}

// The begin and the end of a silence or of maintenance change no status: only what they change is
// reported.
func TestEventsOfOverrides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true})
		l.keep(snapshot(evaluator.Fail), time.Second)
		if all := l.flush(); len(all) != 1 {
			t.Fatalf("%d requests of a failure, want 1", len(all))
		}
		for _, o := range []evaluator.Override{{State: evaluator.Ready, By: "root"}, {Rule: "KeystoneDown", By: "root"}} {
			for _, ended := range []bool{false, true} {
				s := snapshot(evaluator.Fail)
				s.Changes = []evaluator.OverrideChange{{Override: o, Ended: ended}}
				l.publish(s)
				l.wantEvents("of an override")
			}
		}
	})
}

// A silence, or a rule that a reload removes, does not end the reports while a state is starting.
func TestEventsOfRulesAtTheStart(t *testing.T) {
	subject := history.Subject{Kind: history.Rule, Name: "KeystoneDown", State: evaluator.Ready}
	for what, event := range map[string]*history.Event{
		"a silence":      {Subject: subject, Action: "silenced until 02:00 UTC", From: history.Unknown, To: history.Unknown},
		"a removed rule": {Subject: subject, From: history.Unknown, To: history.Removed},
	} {
		e := newEvents(identity{}, nil, strings.Clone, nil, nil)
		e.note(&history.Event{Subject: history.Subject{Kind: history.State, Name: evaluator.Ready}, To: history.Failing})
		if n, ok := e.note(event); ok {
			t.Errorf("note of %s = %+v, want none", what, n)
		}
		if !e.starting[evaluator.Ready] {
			t.Errorf("%s ended the start of the state", what)
		}
	}
}

// A rule without evidence is reported with what is missing: its summary may not hold.
func TestReportsOfUnknownRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true, ReadinessGate: gate})
		l.flush()
		s := down(0, "Keystone does not answer.")
		s.Rules[0].Status, s.Rules[0].Reason = evaluator.Unknown, "no data for up"
		l.keep(s, time.Second)
		for _, request := range l.flush() {
			got := request.body["message"]
			if got == nil {
				got = conditionOf(t, request)["message"]
			}
			if want := "no data for up; cannot determine whether this holds: Keystone does not answer., ready "; !strings.HasPrefix(got.(string), want) {
				t.Errorf("%s %s: message = %q, want it to begin with %q", request.method, request.path, got, want)
			}
		}
	})
}
