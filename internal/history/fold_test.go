//go:build !race

package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// failures makes snapshots in which the given rules decide the state ready, and alone these fail.
type failures struct {
	history *History
	rules   []string
	at      time.Time
}

func newFailures(rules ...string) *failures {
	return &failures{history: New(time.Now()), rules: rules, at: time.Now()}
}

// observe lets a time pass, and observes that these rules fail.
func (f *failures) observe(after time.Duration, failing ...string) {
	time.Sleep(after)
	s := &evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, States: []evaluator.State{{Name: "ready", Verdict: evaluator.Pass}}}
	for i, name := range f.rules {
		r := evaluator.Rule{Name: name, State: "ready", Status: evaluator.OK, Summary: name + " fails."}
		if slices.Contains(failing, name) {
			r.Status = evaluator.Failing
			s.States[0].Verdict, s.States[0].Deciding = evaluator.Fail, append(s.States[0].Deciding, i)
		}
		s.Rules = append(s.Rules, r)
	}
	f.history.Observe(s)
}

// states returns the events of the state.
func (f *failures) states() []*Event {
	events, _ := f.history.Events(Query{State: "ready", Waiting: true})
	return slices.DeleteFunc(events, func(e *Event) bool { return e.Kind != State })
}

// A state that flapped by one rule and then failed by another one: the last failure is the other one, with its time
// and its duration, at once.
func TestLastFailureOfAFlappingState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures("MarkerGone", "DiskFull")
		f.observe(time.Second)
		for range stateChanges { // twice the budget
			f.observe(2*time.Second, "MarkerGone")
			f.observe(3 * time.Second)
		}
		f.observe(time.Second, "DiskFull")
		begin := inUTC(time.Now())
		last := LastFailure(f.states())
		equal(t, 1, len(last))
		equal(t, []string{"DiskFull"}, last[0].names())
		equal(t, begin, last[0].At)
		f.observe(20 * time.Second)
		last = LastFailure(f.states())
		equal(t, "2000-01-01 00:02:52  state     ready ok -> ok, 2 changes in 20s, failing 20s: DiskFull: DiskFull fails.", Line(last[0]))
		equal(t, []string{"DiskFull"}, rulesAt(f, begin.Add(time.Second)))
	})
}

// rulesAt returns the rules of the events at a time, joined for each event.
func rulesAt(f *failures, at time.Time) (names []string) {
	for _, e := range At(f.states(), at) {
		names = append(names, strings.Join(e.names(), "+"))
	}
	return names
}

// 20 s of failure every 90 s, for a day: each is an event, or a part of one.
func TestEachOfManyFailuresIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures("DiskFull")
		f.observe(time.Second)
		const failed = 960
		for range failed {
			f.observe(70*time.Second, "DiskFull")
			f.observe(20 * time.Second)
		}
		sum, changes := 0.0, 0
		for _, e := range f.ended() {
			sum += e.FailingSeconds
			changes += max(1, e.Changes)
		}
		equal(t, 20.0*failed, sum)
		equal(t, 2*failed, changes)
	})
}

// ended returns the events of the state, in which each failure has its end. A failure that goes on ends now.
func (f *failures) ended() (events []*Event) {
	r := ring{events: f.states()}
	for i, end := range r.ends() {
		if end.IsZero() {
			end = time.Now()
		}
		events = append(events, r.events[i].ended(end))
	}
	return events
}

// Another rule that fails is an event of its own, also while the state fails, and the state fails since the first one.
func TestAnotherRuleIsAnotherEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures("A", "B")
		f.observe(time.Second)
		f.observe(time.Second, "A")
		f.observe(time.Second, "A", "B") // A still decides
		f.observe(time.Second, "B")
		f.observe(time.Second)
		equal(t, []string{"state ready ok->failing 1s x0", "state ready failing->failing 2s x0", "state ready failing->ok 3s x0"}, lines(f.states()))
		equal(t, 3, len(LastFailure(f.states())))
		equal(t, []string{"A"}, rulesAt(f, f.at.Add(3*time.Second)))
		equal(t, []string{"B"}, rulesAt(f, f.at.Add(4*time.Second)))
		equal(t, []string{""}, rulesAt(f, f.at.Add(5*time.Second)))
	})
}

// Random timelines of 10,000 changes of four rules: each second in which the state fails belongs to exactly one
// event, which names a rule that failed in it. The memory stays within its bounds.
func TestNoFailureIsLost(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomTimeline(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func randomTimeline(t *testing.T, random *rand.Rand) {
	f := newFailures("A", "B", "C", "D")
	f.observe(0)
	const changes = 10_000
	var failed [][]string // by the second
	var now []string
	for range changes {
		lasts := 1 + random.IntN(5)
		if random.IntN(50) == 0 {
			lasts = random.IntN(600)
		}
		for range lasts {
			failed = append(failed, now)
		}
		if now = nil; random.IntN(3) > 0 {
			for _, rule := range f.rules {
				if random.IntN(3) == 0 {
					now = append(now, rule)
				}
			}
		}
		f.observe(time.Duration(lasts)*time.Second, now...)
		if n, bytes := len(f.history.states.events), f.history.states.bytes; n > ringEvents || bytes > ringBytes {
			t.Fatalf("the ring has %d events of %d bytes", n, bytes)
		}
		for _, track := range f.history.known {
			if n := len(track.flaps.waiting); n > maxWaiting {
				t.Fatalf("%d events wait", n)
			}
		}
	}
	events, covered := f.ended(), 0.0
	for _, e := range events {
		if e.FailingSeconds == 0 {
			continue
		}
		covered += e.FailingSeconds
		fails := 0.0 // seconds in which one of its rules fails, while the event lasts
		for _, now := range failed[second(f, e.start()):second(f, maxTime(e.At, e.Until))] {
			if hasOneOf(e, now) {
				fails++
			}
		}
		if e.FailingSeconds > fails {
			t.Errorf("%s covers %g s, but %v failed for %g s of them", Line(e), e.FailingSeconds, e.names(), fails)
		}
	}
	want := 0.0
	for i, now := range failed {
		if len(now) == 0 {
			continue
		}
		want++
		if !slices.ContainsFunc(events, func(e *Event) bool {
			return e.FailingSeconds > 0 && second(f, e.start()) <= i && i < second(f, maxTime(e.At, e.Until)) && hasOneOf(e, now)
		}) {
			t.Fatalf("no event has second %d, in which %v failed", i, now)
		}
	}
	equal(t, want, covered)
	t.Logf("%d seconds of failure in %d events", int(want), len(events))
}

// hasOneOf reports whether the event names one of the rules.
func hasOneOf(e *Event, rules []string) bool {
	return slices.ContainsFunc(e.names(), func(name string) bool { return slices.Contains(rules, name) })
}

func second(f *failures, t time.Time) int { return int(t.Sub(f.at) / time.Second) }

func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Rules and collectors that flap push no event of a state out.
func TestRingsAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		s.set(evaluator.Failing)
		s.status = evaluator.OK
		for i := range MaxEvents {
			s.change = func(snap *evaluator.Snapshot) {
				snap.Rules = append(snap.Rules, evaluator.Rule{Name: fmt.Sprint("Other", i), State: "ready", Status: evaluator.Failing})
			}
			s.pass(time.Second)
		}
		events, complete := s.history.Events(Query{})
		equal(t, false, complete)
		equal(t, "state ready ok->failing 1s x0", lines(events)[1])
		equal(t, true, len(events) <= MaxEvents)
	})
}

// The worst moment explains an event of several changes.
func TestWorstMoment(t *testing.T) {
	at := time.Unix(0, 0).UTC()
	event := func(second int, from, to Status, rule string) *Event {
		return &Event{Subject: Subject{Kind: State, Name: "ready"}, At: at.Add(time.Duration(second) * time.Second), From: from, To: to, Rules: []RuleMoment{{Name: rule, Expr: "up == 0"}}, RuleCount: 1}
	}
	e := event(0, OK, Warning, "Slow")
	for _, next := range []*Event{event(5, Warning, Failing, "Down"), event(7, Failing, Warning, "Slow"), event(9, Warning, OK, ""), event(10, OK, Removed, "")} {
		e = e.ended(next.At).joined(next)
	}
	equal(t, "1970-01-01 00:00:10  state     ready ok -> removed, 5 changes in 10s, failing 2s: Down", Line(e))
	equal(t, at.Add(5*time.Second), e.WorstAt)
	equal(t, Failing, e.Worst)
}

// flapped returns a state that has no budget left, by this rule.
func flapped(rule string, others ...string) *failures {
	f := newFailures(append(others, rule)...)
	f.observe(time.Second)
	for range stateChanges / 2 {
		f.observe(100*time.Millisecond, rule)
		f.observe(100 * time.Millisecond)
	}
	return f
}

// What follows a recovery is another failure, also among events that wait: by time, and for --last.
func TestFailuresThatWaitAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flapped("X", "A", "B")
		f.observe(time.Second, "X")
		f.observe(time.Second, "A") // takes over
		f.observe(time.Second)
		f.observe(time.Second, "B")
		b := time.Now()
		f.observe(2 * time.Second)
		f.observe(2*time.Second, "A")
		f.observe(2*time.Second, "A")
		last := LastFailure(f.states())
		equal(t, 1, len(last))
		equal(t, "A", last[0].names()[0])
		equal(t, []string{"B", "A"}, rulesAt(f, b.Add(time.Second))) // A failed before and after it
		equal(t, []string{"A"}, rulesAt(f, time.Now()))
	})
}

// What waits is added after 20 s, all of it.
func TestWhatWaitsIsAddedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flapped("R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7")
		for i := range 8 {
			f.observe(time.Second, fmt.Sprint("R", i))
		}
		f.observe(statePause, "R7")
		equal(t, 0, len(f.history.known[key{Subject: Subject{Kind: State, Name: "ready"}}].flaps.waiting))
	})
}

// While an event names a rule that still decides the state, the state has no event.
func TestOutageThatEndsRuleByRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := []string{"A", "B", "C", "D", "E", "F"}
		f := newFailures(rules...)
		f.observe(time.Second)
		for i := range rules {
			f.observe(time.Second, rules[i:]...)
		}
		f.observe(time.Second)
		equal(t, []string{"state ready ok->failing 1s x0", "state ready failing->failing 3s x0", "state ready failing->ok 6s x0"}, lines(f.states()))
	})
}

// At the start, each collector that runs changes which rule has no data: that is one event.
func TestStartIsOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(time.Now())
		f := failures{history: h}
		lines := f.logged()
		for ran := range 9 {
			time.Sleep(time.Second)
			s := &evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, States: []evaluator.State{{Name: "ready", Verdict: evaluator.Pass}}}
			for i := range 8 {
				s.Collectors = append(s.Collectors, evaluator.CollectorStatus{Name: fmt.Sprint(i), Ran: i < ran})
				s.Rules = append(s.Rules, evaluator.Rule{Name: fmt.Sprint("Rule", i), State: "ready", Status: evaluator.Unknown})
				if i >= ran {
					s.States[0].Verdict, s.States[0].Deciding = evaluator.Fail, append(s.States[0].Deciding, i)
				}
			}
			h.Observe(s)
		}
		equal(t, 2, len(f.states()))
		equal(t, []string{`level=INFO msg="state ok" state=ready`}, lines())
	})
}

// A state that flaps: the process that stops adds at once what waits and what follows.
func TestShutdownOfAFlappingState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flapped("X")
		f.observe(time.Second, "X")
		f.history.Observe(&evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, ShuttingDown: true, States: []evaluator.State{{Name: "ready", Verdict: evaluator.Fail, Reason: evaluator.ReasonShuttingDown}}})
		events, _ := f.history.Events(Query{State: "ready"})
		events = slices.DeleteFunc(events, func(e *Event) bool { return e.Kind != State })
		equal(t, evaluator.ReasonShuttingDown, events[len(events)-1].Reason)
	})
}

// Thousands of rules that flap take no explanation from a state.
func TestFlappingRulesLeaveTheStateItsExplanation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rules []string
		for i := range 3000 {
			rules = append(rules, fmt.Sprint("R", i))
		}
		f := newFailures(rules...)
		f.observe(time.Second)
		for range stateChanges {
			f.observe(100*time.Millisecond, rules...)
			f.observe(100 * time.Millisecond)
		}
		equal(t, "R0 fails.", LastFailure(f.states())[0].Rules[0].Summary)
		equal(t, true, f.history.waiting < 4<<20)
	})
}

// The strips of the time before a restart have each failure, also those that are joined in memory.
func TestStripsAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures("A", "B")
		f.observe(time.Second)
		var stored []*Event
		last := uint64(0)
		for i := range 400 {
			f.observe(time.Minute, f.rules[i%2])
			f.observe(time.Minute)
			events, _ := f.history.Events(Query{After: last})
			for _, e := range events {
				stored, last = append(stored, e.copied()), e.ID
			}
		}
		strip := func(h *History) string {
			return h.known[key{Subject: Subject{Kind: State, Name: "ready"}}].coarse.letters(time.Since(h.began))
		}
		before, after := strip(f.history), strip(Resume(time.Now(), Past{Events: stored, Seen: time.Now()}))
		equal(t, strings.Count(before, "f"), strings.Count(after, "f"))
	})
}
