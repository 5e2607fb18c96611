package history

import (
	"slices"
	"time"
)

// LastFailure returns the events from the one that began the last failure on. It returns none if
// there is no failure. All events are of one state or one rule, the oldest first.
func LastFailure(events []*Event) []*Event {
	for i, event := range slices.Backward(events) {
		if event.ofFailure() {
			for i > 0 && event.fails(events[i].From) && event.fails(events[i-1].To) && events[i-1].ofFailure() {
				i--
			}
			return events[i:]
		}
	}
	return nil
}

// ofFailure reports whether an event begins or continues a failure of a state or a rule, or has one inside. A
// state that is unknown fails.
func (e *Event) ofFailure() bool {
	worst, _ := e.worst()
	return e.Action == "" && e.fails(worst)
}

// At returns the events about a state or a rule at a time: those whose changes, or the failure after them, began
// before it and went on after it, and otherwise the last one before it. All events are of one subject, the oldest
// first.
func At(events []*Event, at time.Time) []*Event {
	var before, during []*Event
	ends := ring{events: events}.ends()
	for i, e := range events {
		if e.start().After(at) {
			continue
		}
		before = append(before, e)
		failed := e.open() && (ends[i].IsZero() || ends[i].After(at))
		if failed || e.At.After(at) || e.Until.After(at) {
			during = append(during, e)
		}
	}
	if len(during) > 0 {
		return during
	}
	return before[max(0, len(before)-1):]
}
