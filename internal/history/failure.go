package history

import "slices"

// LastFailure returns the events from the one that began the last failure on. It returns none if
// there is no failure. All events are of one state or one rule, the oldest first.
func LastFailure(events []*Event) []*Event {
	for i, event := range slices.Backward(events) {
		if event.ofFailure() {
			for i > 0 && events[i-1].ofFailure() && events[i].From != None {
				i--
			}
			return events[i:]
		}
	}
	return nil
}

// ofFailure reports whether an event begins or continues a failure of a state or a rule. A
// state that is unknown fails.
func (e *Event) ofFailure() bool {
	return e.Action == "" && (e.To == Failing || e.Kind == State && e.To.Fails())
}
