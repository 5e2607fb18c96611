package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// Query chooses events. The zero value chooses all.
type Query struct {
	// After is the ID that the events are newer than.
	After uint64
	// Waiting adds the events of subjects that flap now, which wait and may still change: as the last ones, and
	// with the ID 0.
	Waiting bool
	// Since and Until bound the time of the events; zero for no bound. An event of several changes is chosen if
	// one of them may be within.
	Since, Until time.Time
	// State names the state that the events are about, or which their rules feed, and Rule
	// the rule; empty for all.
	State, Rule string
	// Limit is the number of events, the newest; all if zero.
	Limit int
}

func (q Query) chooses(e *Event) bool {
	return !e.At.Before(q.Since) && (q.Until.IsZero() || !e.start().After(q.Until)) &&
		(q.State == "" || e.Subject.State == q.State || e.Kind == State && e.Name == q.State) &&
		(q.Rule == "" || e.Kind == Rule && e.Name == q.Rule)
}

// Events returns the events that a query chooses, the oldest first. complete is false if
// events newer than After have been dropped.
func (h *History) Events(q Query) (events []*Event, complete bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.merged(q.After) {
		if q.chooses(e) {
			events = append(events, e)
		}
	}
	if q.Waiting {
		events = append(events, h.waitingEvents(q)...)
	}
	if q.Limit > 0 {
		events = events[max(0, len(events)-q.Limit):]
	}
	return events, q.After >= max(h.states.dropped, h.others.dropped)
}

// waitingEvents returns the chosen events that wait, by the time of their last change.
func (h *History) waitingEvents(q Query) (events []*Event) {
	for _, t := range h.known {
		for _, w := range t.flaps.waiting {
			if q.chooses(w) {
				events = append(events, w)
			}
		}
	}
	slices.SortFunc(events, func(a, b *Event) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(order(a.Kind), order(b.Kind)), strings.Compare(a.Name, b.Name))
	})
	return events
}

// Overrides returns the silences and the maintenance of the last snapshot, or before it those
// of the process before. They must not be changed.
func (h *History) Overrides() []evaluator.Override {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.overrides
}

// LastID returns the ID of the newest event.
func (h *History) LastID() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.nextID
}

// Changed returns a channel that is closed at the next event.
func (h *History) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// Close ends the streams of events: the process ends. It must be called once.
func (h *History) Close() { close(h.closed) }

// Closed returns a channel that Close closes.
func (h *History) Closed() <-chan struct{} { return h.closed }

// Strips returns the strips of all subjects up to now: in steps of 10 s for a span of an
// hour or less, and else in steps of a minute for 24 hours.
func (h *History) Strips(span time.Duration, now time.Time) Strips {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := Strips{End: inUTC(now), StepSeconds: coarseStep.Seconds(), Strips: []Strip{}}
	fine := span <= time.Hour
	if fine {
		out.StepSeconds = fineStep.Seconds()
	}
	for _, t := range h.tracks {
		if t == nil {
			continue
		}
		s := &t.coarse
		if fine {
			s = &t.fine
		}
		out.Strips = append(out.Strips, Strip{t.key.Subject, t.status, inUTC(t.since), s.letters(now.Sub(h.began)), t.curve.shown(fine, now.Sub(h.began))})
	}
	slices.SortStableFunc(out.Strips, func(a, b Strip) int { return strings.Compare(order(a.Kind), order(b.Kind)) })
	return out
}

// order sorts states before rules before collectors.
func order(k Kind) string {
	return map[Kind]string{State: "1", Rule: "2", Collector: "3"}[k]
}
