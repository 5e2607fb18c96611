package history

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// all returns the events of a history.
func (h *History) all() []*Event {
	events, _ := h.Events(Query{})
	return events
}

// stripOf returns the strip of a subject.
func (h *History) stripOf(t *testing.T, name string, span time.Duration) string {
	t.Helper()
	strips := h.Strips(span, time.Now()).Strips
	i := slices.IndexFunc(strips, func(s Strip) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no strip of %q", name)
	}
	return strips[i].Slots
}

// resume starts a process after the one of a scene.
func (s *scene) resume(seen time.Time) *scene {
	return &scene{history: Resume(time.Now(), Past{Events: s.history.all(), Seen: seen}), status: evaluator.OK}
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(2 * time.Minute)
		s.set(evaluator.Failing)
		s.pass(59 * time.Second)
		s.set(evaluator.OK)
		s.pass(time.Minute - time.Second)
		seen := time.Now()
		time.Sleep(3 * time.Minute)
		s = s.resume(seen)
		s.pass(time.Minute)
		s.set(evaluator.Failing)
		events := s.history.all()
		equal(t, []string{
			"process vitals ->ok 0s x0 started",
			"collector keystone ok->failing 120s x0 timeout",
			"rule KeystoneDown ok->failing 120s x0",
			"state ready ok->failing 120s x0",
			"collector keystone failing->ok 60s x0",
			"rule KeystoneDown failing->ok 60s x0",
			"state ready failing->ok 60s x0",
			"process vitals ->ok 180s x0 started; the process before it ended without notice, last seen 2000-01-01 00:04:00",
			"collector keystone ok->failing 60s x0 timeout",
			"rule KeystoneDown ok->failing 60s x0",
			"state ready ok->failing 60s x0",
		}, lines(events))
		for i, e := range events[1:] {
			if e.ID <= events[i].ID {
				t.Errorf("event %d has the ID %d after %d, want an increase", i+1, e.ID, events[i].ID)
			}
		}
		want := strings.Repeat("o", 12) + strings.Repeat("f", 7) + strings.Repeat("o", 6) + strings.Repeat(".", 17) + strings.Repeat("o", 6) + "f"
		for _, name := range []string{"ready", "KeystoneDown", "keystone"} {
			fine := s.history.stripOf(t, name, time.Hour)
			if got := fine[len(fine)-len(want):]; got != want {
				t.Errorf("strip of %s = %s, want %s", name, got, want)
			}
			coarse := s.history.stripOf(t, name, 24*time.Hour)
			if got := coarse[len(coarse)-9:]; got != "ooffo..of" {
				t.Errorf("strip of %s by minutes ends with %s, want ooffo..of", name, got)
			}
		}
	})
}

// A process that recorded its end, twice: what was before the first one stays.
func TestResumeAfterAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		s.set(evaluator.Failing)
		equal(t, "ready failing since 00:00:02: KeystoneDown", s.history.End(time.Now()))
		s.history.End(time.Now())
		s.pass(time.Second)
		time.Sleep(time.Minute)
		s = s.resume(time.Time{})
		s.pass(time.Minute)
		equal(t, "all ok", s.history.End(time.Now()))
		time.Sleep(time.Minute)
		s = s.resume(time.Now())
		s.pass(time.Second)
		equal(t, []string{
			"process vitals ->ok 0s x0 started",
			"process vitals ->ok 0s x0 shutting down: ready failing since 00:00:02: KeystoneDown",
			"process vitals ->ok 61s x0 started",
			"process vitals ->ok 0s x0 shutting down: all ok",
			"process vitals ->ok 0s x0 started",
		}, slices.DeleteFunc(lines(s.history.all()), func(line string) bool { return !strings.HasPrefix(line, "process") }))
	})
}

// A clock that was set back: IDs and strips stay in order.
func TestResumeBeforeThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		s.set(evaluator.Failing)
		past := s.history.all()
		h := Resume(time.Now().Add(-time.Hour), Past{Events: slices.Concat(past, past), Seen: time.Now()})
		events := h.all()
		equal(t, len(past)+1, len(events))
		equal(t, events[len(past)-1].ID+1, events[len(past)].ID)
		equal(t, 0.0, events[len(past)].LastedSeconds)
		s.history = h
		s.pass(time.Second)
	})
}

// An event of several changes that an earlier version stored, without the worst moment.
func TestResumeWithFoldedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		time.Sleep(10 * time.Minute)
		h := Resume(time.Now(), Past{Events: []*Event{{ID: 1, At: begin.Add(time.Minute), Begin: begin, Changes: 3, Subject: Subject{Kind: State, Name: "ready"}, From: OK, To: Failing}}})
		events := h.all()
		equal(t, 2, len(events))
		equal(t, Failing, events[0].Worst)
		equal(t, begin, events[0].WorstAt)
	})
}

// Subjects of the past that the configuration no longer has leave nothing behind.
func TestResumeForgetsSubjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		s.set(evaluator.Failing)
		s = s.resume(time.Now())
		s.change = func(snap *evaluator.Snapshot) { snap.Rules, snap.States[0].Deciding = nil, nil }
		s.pass(time.Second)
		equal(t, 2, len(s.history.known))
		last := s.history.all()
		equal(t, Process, last[len(last)-1].Kind)
	})
}

// The verdict at the end has the reason of that moment: that of the last change is older.
func TestEndHasTheLastReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.set(evaluator.Failing)
		s.change = func(snap *evaluator.Snapshot) { snap.Rules[0].Summary = "Keystone does not answer." }
		s.pass(time.Second)
		equal(t, "ready failing since 00:00:01: KeystoneDown: Keystone does not answer.", s.history.End(time.Now()))
	})
}
