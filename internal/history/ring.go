package history

import (
	"cmp"
	"slices"
	"time"
)

// The bounds of a ring.
const (
	ringEvents = MaxEvents / 2
	ringBytes  = maxBytes / 2
)

// ring keeps the newest events, in the order of their IDs.
type ring struct {
	events []*Event
	bytes  int
	// dropped is the ID of the newest event that was dropped.
	dropped uint64
}

// keep appends an event that has its ID. A full ring joins the failures of states of one cause, and then drops the
// oldest events, so that a sixteenth is free.
func (r *ring) keep(e *Event) {
	e.encoded = e.encodedOnce()
	r.events = append(r.events, e)
	r.bytes += e.size()
	if len(r.events) <= ringEvents && r.bytes <= ringBytes {
		return
	}
	r.squeeze()
	drop := 0
	for ; r.over(len(r.events) - drop); drop++ {
		r.bytes -= r.events[drop].size()
		r.dropped = max(r.dropped, r.events[drop].ID)
	}
	r.events = slices.Delete(r.events, 0, drop)
}

// newer returns the events that are newer than an ID.
func (r *ring) newer(after uint64) []*Event {
	i, _ := slices.BinarySearchFunc(r.events, after+1, func(e *Event, id uint64) int { return cmp.Compare(e.ID, id) })
	return r.events[i:]
}

// over reports whether n events are too many to have a sixteenth free.
func (r *ring) over(n int) bool { return n > ringEvents/16*15 || r.bytes > ringBytes/16*15 }

// squeeze joins events of one cause, the oldest first, until a sixteenth is free. The joined event takes the place
// of the later one. Each failure among them gets its end.
func (r *ring) squeeze() {
	type cause struct {
		Subject
		text string
	}
	causes, failures := map[cause]int{}, map[Subject]int{} // the last event of each, by its index
	left := len(r.events)
	for i, end := range r.ends() {
		if !r.over(left) {
			break
		}
		e := r.events[i]
		if e.Kind != State || e.Action != "" {
			continue
		}
		if !end.IsZero() {
			e = e.ended(end)
		}
		into, found := causes[cause{e.Subject, e.cause()}]
		if e.cause() == "" && e.fails(e.From) {
			into, found = failures[e.Subject]
			found = found && r.events[into].Until.Equal(e.start())
		}
		if found {
			r.bytes -= r.events[into].size() + e.size()
			joined := r.events[into].joined(e)
			joined.ID = e.ID
			r.bytes += joined.size()
			r.events[into], e, left = nil, joined, left-1
		}
		r.events[i] = e
		if c := e.cause(); c != "" {
			causes[cause{e.Subject, c}] = i
		}
		if delete(failures, e.Subject); e.fails(e.To) {
			failures[e.Subject] = i
		}
	}
	r.events = slices.DeleteFunc(r.events, func(e *Event) bool { return e == nil })
}

// ends returns for each event when the failure that goes on after it ended: at the first later change of its
// subject, or with its process. It is zero for one that goes on.
func (r ring) ends() []time.Time {
	ends := make([]time.Time, len(r.events))
	first := map[Subject]time.Time{}
	var process time.Time
	for i, e := range slices.Backward(r.events) {
		switch {
		case e.starts():
			clear(first)
			process = e.seenBefore()
		case e.Action == "":
			at, ok := first[e.Subject]
			if ends[i] = at; !ok {
				ends[i] = process
			}
			if start := e.start(); !ok || start.Before(at) {
				first[e.Subject] = start
			}
		}
	}
	return ends
}
