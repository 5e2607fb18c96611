package history

import "time"

// A track holds two strips: the last hour by 10 s, and the last 24 hours by a minute.
const (
	fineStep, coarseStep = 10 * time.Second, time.Minute
	fineSlots            = int(time.Hour / fineStep)
	coarseSlots          = int(24 * time.Hour / coarseStep)
)

// strip is a ring of slots, each with the worst status of its time. Slots count from the
// start of the history, in real time: a step of the clock does not move them.
type strip struct {
	step  time.Duration
	slots int
	// ring has two slots a byte.
	ring []byte
	// last is the newest slot that was written.
	last int
}

func newStrip(step time.Duration, slots int) strip {
	return strip{step, slots, make([]byte, (slots+1)/2), -1}
}

// get returns the status of a slot, which is not negative.
func (s *strip) get(slot int) Status {
	slot %= s.slots
	return Status(s.ring[slot/2] >> (4 * (slot % 2)) & 0xf)
}

func (s *strip) set(slot int, status Status) {
	slot %= s.slots
	shift := 4 * (slot % 2)
	s.ring[slot/2] = s.ring[slot/2]&^(0xf<<shift) | byte(status)<<shift
}

// add adds a status from one time to another, both since the start of the history. Slots
// after the last one that was written have no status before.
func (s *strip) add(status Status, from, to time.Duration) {
	first, now := int(from/s.step), int(to/s.step)
	oldest := now - s.slots + 1
	for i := max(s.last+1, oldest); i <= now; i++ {
		s.set(i, None)
	}
	s.last = max(s.last, now)
	for i := max(first, oldest, 0); i <= now; i++ {
		s.set(i, max(s.get(i), status))
	}
}

// letters returns one letter for each of the last slots up to the time to, the oldest first.
func (s *strip) letters(to time.Duration) string {
	now := int(to / s.step)
	letters := make([]byte, s.slots)
	for i := range letters {
		slot, status := now-s.slots+1+i, None
		if slot >= 0 && slot <= s.last && slot > s.last-s.slots {
			status = s.get(slot)
		}
		letters[i] = status.letter()
	}
	return string(letters)
}

// Strip is what is recorded of a subject over a time.
type Strip struct {
	Subject
	// Status is the current one.
	Status Status `json:"status"`
	// Since is when the current status began.
	Since time.Time `json:"since,omitzero"`
	// Slots has one letter a slot, the oldest first, for the worst status of that time: the
	// first letter of the status, or "." where nothing is recorded.
	Slots string `json:"slots"`
	// Curve is absent where no value is recorded.
	Curve *Curve `json:"curve,omitempty"`
}

// Strips are those of all subjects.
type Strips struct {
	// End is the end of the recorded time.
	End time.Time `json:"end"`
	// StepSeconds is the time of one slot.
	StepSeconds float64 `json:"step_seconds"`
	Strips      []Strip `json:"strips"`
}
