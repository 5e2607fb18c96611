package history

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// newChanges is how many changes of a subject have an event of their own at once. Then one
	// event each changePause has those since the last one: a subject that flaps does not push
	// the others out of the memory.
	newChanges  = 10
	changePause = time.Minute
	// mergeWithin is the age up to which such an event takes over the one before.
	mergeWithin = 3 * changePause
)

// flaps are the changes of a subject that have no event yet. The zero value has none.
type flaps struct {
	changes int
	// begin is the time of the first one, from the status before it, and since the time from
	// which that lasted.
	begin, since time.Time
	from         Status
	limits       *rate.Limiter
	// last is the last event of several changes.
	last *Event
}

// count counts a change from a status that lasted since a time.
func (f *flaps) count(at time.Time, from Status, since time.Time) {
	if f.limits == nil {
		f.limits = rate.NewLimiter(rate.Every(changePause), newChanges)
	}
	if f.changes == 0 {
		f.begin, f.from, f.since = at, from, since
	}
	f.changes++
}

// due returns the changes if their event is due, and forgets them.
func (f *flaps) due(at time.Time) (changes flaps, due bool) {
	if f.changes == 0 || !f.limits.AllowN(at, 1) {
		return flaps{}, false
	}
	changes = *f
	f.changes = 0
	return changes, true
}
