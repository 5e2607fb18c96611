package history

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/vitals-health/vitals/evaluator"
)

// The budget of a subject: so many changes have an event of their own at once, and then each pause adds the events
// that wait. A subject that flaps does not push the others out of the memory, the files and the log.
const (
	stateChanges, statePause = 30, 20 * time.Second
	otherChanges, otherPause = 10, time.Minute
	// maxWaiting bounds the events of a state that wait: the oldest of more is added without a pause.
	maxWaiting = 16
	// maxWaitingBytes bounds what explains the events of rules and collectors that wait. Those beyond have
	// 0.7 kB each, and no explanation.
	maxWaitingBytes = 1 << 20
)

// flaps are the changes of a subject that wait for the budget, joined by cause. The zero value has none.
type flaps struct {
	limits *rate.Limiter
	// waiting are events that another one may still take the place of, by the time of their last change. The
	// last one is about the current status, unless that has an event in a ring.
	waiting []*Event
	// rules are those that the last event of a state names; empty for a state with a reason of its own.
	rules []string
}

// newLimits returns the budget of a kind.
func newLimits(k Kind) *rate.Limiter {
	if k == State {
		return rate.NewLimiter(rate.Every(statePause), stateChanges)
	}
	return rate.NewLimiter(rate.Every(otherPause), otherChanges)
}

// change records a change of a subject: as an event of its own within the budget, otherwise with those that
// wait.
func (h *History) change(t *track, e *Event) {
	f := &t.flaps
	if f.limits == nil {
		f.limits = newLimits(e.Kind)
	}
	if len(f.waiting) == 0 && f.limits.AllowN(e.At, 1) {
		h.add(e)
		return
	}
	if e.Kind != State && h.waiting > maxWaitingBytes {
		e.Reason, e.Rules = "", nil
	}
	h.wait(t, e)
	if len(f.waiting) > maxWaiting {
		h.release(t)
	}
}

// wait joins a change with the waiting event of its cause, or adds it to them. A change to a status that does not
// fail, and one after such changes, joins the last one.
func (h *History) wait(t *track, e *Event) {
	f := &t.flaps
	into := -1
	if last := len(f.waiting) - 1; last >= 0 {
		f.waiting[last] = f.waiting[last].ended(e.At)
		if into = last; e.cause() != "" && f.waiting[last].cause() != "" {
			into = slices.IndexFunc(f.waiting, func(w *Event) bool { return w.cause() == e.cause() })
		}
	}
	if into >= 0 {
		h.waiting -= f.waiting[into].size()
		e = f.waiting[into].joined(e)
		f.waiting = slices.Delete(f.waiting, into, into+1)
	}
	e.encoded = e.encodedOnce()
	f.waiting = append(f.waiting, e)
	h.waiting += e.size()
}

// due adds all waiting events of a subject once the budget has one.
func (h *History) due(t *track, at time.Time) {
	if len(t.flaps.waiting) > 0 && t.flaps.limits.AllowN(at, 1) {
		h.releaseAll(t)
	}
}

// explains reports whether the explanation of an event of this moment is kept: of a state always, and of a rule or a
// collector if the event is worse than the one that waits.
func (f *flaps) explains(e *Event) bool {
	if e.Kind == State || len(f.waiting) == 0 {
		return true
	}
	worst, _ := f.waiting[len(f.waiting)-1].worst()
	return e.To > worst
}

// release adds the oldest waiting event of a subject: from then on nothing takes its place.
func (h *History) release(t *track) {
	e := t.flaps.waiting[0]
	t.flaps.waiting = slices.Delete(t.flaps.waiting, 0, 1)
	h.waiting -= e.size()
	h.add(e.copied())
}

// releaseAll adds all waiting events of a subject, the oldest first.
func (h *History) releaseAll(t *track) {
	for len(t.flaps.waiting) > 0 {
		h.release(t)
	}
}

// stop adds all events that wait: the process ends.
func (h *History) stop() {
	var all []*track
	for _, t := range h.known {
		if len(t.flaps.waiting) > 0 {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *track) int { return a.flaps.waiting[0].At.Compare(b.flaps.waiting[0].At) })
	for _, t := range all {
		h.releaseAll(t)
	}
}

// decide reports whether one of the rules decides a state, or neither has rules.
func decide(rules []string, s *evaluator.Snapshot, st *evaluator.State) bool {
	return len(rules)+len(st.Deciding) == 0 ||
		slices.ContainsFunc(st.Deciding, func(i int) bool { return slices.Contains(rules, s.Rules[i].Name) })
}

// fails reports whether a subject of the event's kind fails with a status: an unknown state does.
func (e *Event) fails(s Status) bool { return s == Failing || e.Kind == State && s == Unknown }

// start returns the time of the first change of the event.
func (e *Event) start() time.Time {
	if e.Changes > 1 {
		return e.Begin
	}
	return e.At
}

// worst returns the worst status of the event, and when it began.
func (e *Event) worst() (Status, time.Time) {
	if e.Changes > 1 {
		return e.Worst, e.WorstAt
	}
	return e.To, e.At
}

// cause returns what explains a failing state: its status and the rules that the event names, or its reason. It is
// empty if the event has no failure of a state.
func (e *Event) cause() string {
	worst, _ := e.worst()
	switch {
	case e.Kind != State || e.Action != "" || !e.fails(worst):
		return ""
	case len(e.Rules) > 0:
		return worst.String() + " " + strings.Join(e.names(), ", ")
	}
	return worst.String() + ": " + e.Reason
}

// names returns the names of the rules that explain the event.
func (e *Event) names() (names []string) {
	for i := range e.Rules {
		names = append(names, e.Rules[i].Name)
	}
	return names
}

// open reports whether the failure goes on after the event, until the next one of the subject.
func (e *Event) open() bool { return e.fails(e.To) && e.Action == "" && e.Until.IsZero() }

// copied returns a copy that may be changed until its JSON is read.
func (e *Event) copied() *Event {
	c := *e
	c.encoded = c.encodedOnce()
	return &c
}

// ended returns the event with the end of the failure that goes on after it, if one does.
func (e *Event) ended(at time.Time) *Event {
	if !e.open() {
		return e
	}
	e = e.copied()
	e.Until = inUTC(at)
	e.FailingSeconds += max(0, at.Sub(e.At).Seconds()) // the clock may have been set back
	return e
}

// joined returns an event, which has ended, and a later one of the subject as one. Of both, what explains the worst
// moment remains: the first one if they are equally bad.
func (e *Event) joined(next *Event) *Event {
	e = e.copied()
	worst, at := e.worst()
	if w, begun := next.worst(); w > worst && w != Removed {
		worst, at = w, begun
		e.Generation, e.Reason, e.Rules, e.RuleCount = next.Generation, next.Reason, next.Rules, next.RuleCount
	}
	e.Begin, e.Changes = e.start(), max(1, e.Changes)+max(1, next.Changes)
	e.Worst, e.WorstAt = worst, at
	e.At, e.To, e.Until = next.At, next.To, next.Until
	e.FailingSeconds += next.FailingSeconds
	return e
}
