// Package history keeps what happened: every change of a status, with the explanation of
// that moment, and the statuses and compared values of the last 24 hours. It reads snapshots and changes none.
package history

import (
	"slices"
	"sync"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

// The bounds of the memory. An event with one rule needs about 1 kB, and its JSON as much again
// from the first client that reads it on.
const (
	// MaxEvents and maxBytes bound the events that are kept: the older ones are dropped.
	MaxEvents = 1000
	maxBytes  = 1 << 20
	// maxSubjects bounds the subjects that have strips and events: 1.2 kB each. More than
	// that have none.
	maxSubjects = 6000
)

// History keeps events and strips. It is safe for concurrent use; make it with New.
type History struct {
	// startID is the ID of the event of the start.
	startID uint64

	mu sync.Mutex // guards what follows
	// began is the start of the strips, the longest before the process, with the monotonic
	// reading.
	began  time.Time
	events []*Event
	bytes  int
	nextID uint64
	// dropped is the ID of the newest event that was dropped.
	dropped uint64
	// tracks are the subjects of the last snapshot in its order, and known all of them.
	tracks []*track
	known  map[key]*track
	// curves counts the subjects that have one.
	curves int
	// last are the parts of the last snapshot that matter to the next.
	last struct {
		at         time.Time
		reload     time.Time
		generation uint64
		stopping   bool
		snapshot   *evaluator.Snapshot
		// states is the index of the first state in tracks.
		states int
	}
	// overrides are those of the last snapshot, or of the process before. They are never changed.
	overrides []evaluator.Override
	// observed counts the calls of Observe.
	observed uint64
	changed  chan struct{}
	// closed is closed by Close.
	closed chan struct{}
}

// key identifies a subject. Rules of one name differ in number.
type key struct {
	Subject
	number int
}

// track is what is kept of a subject.
type track struct {
	key          key
	status       Status
	since        time.Time
	fine, coarse strip
	// curve is nil without a value.
	curve *curve
	// until is the time up to which the strips are written, since the start of the history.
	until time.Duration
	flaps flaps
	// observed is the last call of Observe that had the subject.
	observed uint64
}

// New returns a history that starts at now, with an event of the start.
func New(now time.Time) *History { return Resume(now, Past{}) }

// vitals is the subject of events of the process.
func vitals() Subject { return Subject{Kind: Process, Name: "vitals"} }

// Observe records a snapshot. It must be called for every snapshot, in their order. Until
// every collector has finished a collection it records the states only: for the lack of
// samples, the rules are unknown then.
func (h *History) Observe(s *evaluator.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.nextID
	h.observed++
	h.observeProcess(s)
	index := h.last.states
	complete := !slices.ContainsFunc(s.Collectors, func(c evaluator.CollectorStatus) bool { return !c.Ran })
	if complete {
		index = 0
		for i := range s.Collectors {
			c := &s.Collectors[i]
			t := h.take(s, &index, Subject{Kind: Collector, Name: c.Name}, ofCollector(c.Success), func(e *Event) { e.Reason = text.Clip(c.Error, maxReason) })
			h.measure(t, longest(), c.Duration.Seconds(), s.At)
		}
		for i := range s.Rules {
			r := &s.Rules[i]
			h.take(s, &index, Subject{Rule, r.Name, r.State, r.Group}, of(r.Status.String()), func(e *Event) { explainRule(e, s, r) })
		}
		h.last.states = index
	}
	for i := range s.States {
		st := &s.States[i]
		h.take(s, &index, Subject{Kind: State, Name: st.Name}, of(s.Word(st)), func(e *Event) { explainState(e, s, st) })
	}
	h.overrides = s.Overrides
	for i := range s.Changes {
		h.observeOverride(s, &s.Changes[i])
	}
	if complete {
		h.tracks = h.tracks[:min(index, len(h.tracks))]
		h.forget(s)
	}
	if h.nextID != first {
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// observeProcess records what the process does: the outcome of a reload, the shutdown, and
// a time without evaluations.
func (h *History) observeProcess(s *evaluator.Snapshot) {
	add := func(to Status, reason string) {
		h.add(&Event{At: inUTC(s.At), Generation: s.Generation, Subject: vitals(), To: to, Reason: text.Clip(reason, maxReason)})
	}
	if gap := s.At.Sub(h.last.at); !h.last.at.IsZero() && gap > s.MaxAge {
		add(Failing, "no evaluation for "+gap.Round(100*time.Millisecond).String()+": the process was stopped or had no CPU")
		for _, t := range h.known {
			t.until = s.At.Sub(h.began) // the strips have no status of that time
		}
	}
	switch at := s.Reload.At; {
	case at.Equal(h.last.reload) || h.last.at.IsZero():
	case s.Reload.OK:
		add(OK, "configuration loaded")
	default:
		add(Failing, "configuration not loaded: "+s.Reload.Error)
	}
	if s.ShuttingDown {
		h.end(s.At)
	}
	h.last.at, h.last.reload, h.last.generation, h.last.snapshot = s.At, s.Reload.At, s.Generation, s
}

// take records the status of a subject, and returns its track. explain adds to an event what
// explains it.
func (h *History) take(s *evaluator.Snapshot, index *int, subject Subject, status Status, explain func(*Event)) *track {
	t := h.track(*index, subject)
	*index++
	if t == nil {
		return nil
	}
	t.observed = h.observed
	now := max(s.At.Sub(h.began), t.until)
	t.write(now) // the status before lasted until now
	if status != t.status {
		from, since := t.status, t.since
		t.status, t.since = status, s.At
		t.write(now)
		if from != None || status != OK {
			t.flaps.count(s.At, from, since)
		}
	}
	if folded, due := t.flaps.due(s.At); due {
		h.event(s, t, folded, explain)
	}
	return t
}

// event adds an event of the changes of a subject that have none yet.
func (h *History) event(s *evaluator.Snapshot, t *track, folded flaps, explain func(*Event)) {
	e := &Event{At: inUTC(s.At), Generation: s.Generation, Subject: t.key.Subject, From: folded.from, To: t.status}
	if !folded.since.IsZero() {
		e.LastedSeconds = folded.begin.Sub(folded.since).Seconds()
	}
	if folded.changes > 1 {
		e.Changes, e.Begin = folded.changes, inUTC(folded.begin)
		h.merge(e, t.flaps.last)
		t.flaps.last = e
	}
	explain(e)
	h.add(e)
}

// write writes the status to the strips, from the time of the last one up to now.
func (t *track) write(now time.Duration) {
	t.fine.add(t.status, t.until, now)
	t.coarse.add(t.status, t.until, now)
	t.until = now
}

// track returns what is kept of a subject: nil if there are too many. The subject of an
// index is mostly the same as in the snapshot before.
func (h *History) track(index int, subject Subject) *track {
	if index < len(h.tracks) && h.tracks[index] != nil && h.tracks[index].key.Subject == subject {
		return h.tracks[index]
	}
	k := key{subject, 0}
	for h.known[k] != nil && h.known[k].observed == h.observed {
		k.number++ // it has been taken for another rule of the name
	}
	t := h.trackOf(k)
	if index == len(h.tracks) {
		h.tracks = append(h.tracks, t)
	} else {
		h.tracks[index] = t
	}
	return t
}

// trackOf returns the track of a key, a new one if there is none: nil if there are too many.
func (h *History) trackOf(k key) *track {
	t := h.known[k]
	if t == nil && len(h.known) < maxSubjects {
		t = &track{key: k, fine: newStrip(fineStep, fineSlots), coarse: newStrip(coarseStep, coarseSlots)}
		h.known[k] = t
	}
	return t
}

// forget removes the subjects that the configuration no longer has. Those that were not ok
// get an event.
func (h *History) forget(s *evaluator.Snapshot) {
	if len(h.known) == len(h.tracks) {
		return
	}
	for _, t := range h.known {
		if t.observed == h.observed {
			continue
		}
		delete(h.known, t.key)
		if t.curve != nil {
			h.curves--
		}
		if t.status != OK && t.status != None {
			h.add(&Event{At: inUTC(s.At), Generation: s.Generation, Subject: t.key.Subject, From: t.status, To: Removed, LastedSeconds: s.At.Sub(t.since).Seconds()})
		}
	}
}

// add appends a new event.
func (h *History) add(e *Event) {
	h.nextID++
	e.ID = h.nextID
	h.keep(e)
}

// keep appends an event that has its ID, and drops the oldest ones beyond the bounds.
func (h *History) keep(e *Event) {
	e.encoded = e.encodedOnce()
	h.events = append(h.events, e)
	h.bytes += e.size()
	drop := 0
	for ; len(h.events)-drop > MaxEvents || h.bytes > maxBytes; drop++ {
		h.bytes -= h.events[drop].size()
		h.dropped = h.events[drop].ID
	}
	h.events = slices.Delete(h.events, 0, drop)
}

// merge adds an older event of the same subject that flaps to a newer one, and removes it.
func (h *History) merge(e, older *Event) {
	if older == nil || e.At.Sub(older.At) > mergeWithin {
		return
	}
	i := slices.Index(h.events, older)
	if i < 0 {
		return
	}
	e.Changes += older.Changes
	e.Begin, e.From, e.LastedSeconds = older.Begin, older.From, older.LastedSeconds
	h.bytes -= older.size()
	h.events = slices.Delete(h.events, i, i+1)
}

// inUTC returns a time in UTC, without the monotonic reading.
func inUTC(t time.Time) time.Time { return t.UTC().Round(0) }
