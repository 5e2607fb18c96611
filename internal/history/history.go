// Package history keeps what happened: every change of a status, with the explanation of
// that moment, and the statuses and compared values of the last 24 hours. It reads snapshots and changes none.
package history

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

// The bounds of the memory. An event with one rule needs about 1 kB, and its JSON as much again
// from the first client that reads it on.
const (
	// MaxEvents and maxBytes bound the events that are kept: half of them are for states, operators and
	// the process, and half for rules and collectors.
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
	began time.Time
	// states has the events of states, operators and the process, and others the events of rules and collectors.
	states, others ring
	nextID         uint64
	// waiting are the bytes of events that are in no ring yet.
	waiting int
	// added are the events of the call of Observe or End that goes on.
	added  []*Event
	logger *slog.Logger
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
	// complete is set if all collectors of the last snapshot have run, and started once they have.
	complete, started bool
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
func (h *History) Observe(s *evaluator.Snapshot) { h.log(h.observe(s)) }

// observe records a snapshot, and returns what is to be logged.
func (h *History) observe(s *evaluator.Snapshot) []*Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.added = nil
	h.observed++
	h.observeProcess(s)
	var late []*Event
	index := h.last.states
	h.complete = !slices.ContainsFunc(s.Collectors, func(c evaluator.CollectorStatus) bool { return !c.Ran })
	first := h.complete && !h.started
	h.started = h.started || h.complete
	if h.complete {
		index = 0
		for i := range s.Collectors {
			c := &s.Collectors[i]
			t := h.take(s, &index, Subject{Kind: Collector, Name: c.Name}, ofCollector(c.Success), nil, func(e *Event) { e.Reason = text.Clip(c.Error, maxReason) })
			h.measure(t, longest(), c.Duration.Seconds(), s.At)
		}
		for i := range s.Rules {
			r := &s.Rules[i]
			h.take(s, &index, Subject{Rule, r.Name, r.State, r.Group}, of(r.Status.String()), nil, func(e *Event) { explainRule(e, s, r) })
		}
		h.last.states = index
	}
	for i := range s.States {
		st := &s.States[i]
		subject, before := Subject{Kind: State, Name: st.Name}, len(h.added)
		h.take(s, &index, subject, of(s.Word(st)), st, func(e *Event) { explainState(e, s, st) })
		if first && st.Verdict == evaluator.Fail && len(h.added) == before {
			e := &Event{Subject: subject, To: of(s.Word(st))} // it has failed since the start
			explainState(e, s, st)
			late = append(late, e)
		}
	}
	if h.last.stopping {
		h.stop()
	}
	h.overrides = s.Overrides
	for i := range s.Changes {
		h.observeOverride(s, &s.Changes[i])
	}
	if h.complete {
		h.tracks = h.tracks[:min(index, len(h.tracks))]
		h.forget(s)
	}
	if len(h.added) > 0 {
		close(h.changed)
		h.changed = make(chan struct{})
	}
	return append(late, h.toLog()...)
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

// take records the status of a subject, and returns its track. A state is given as such. explain adds to an event
// what explains it.
func (h *History) take(s *evaluator.Snapshot, index *int, subject Subject, status Status, st *evaluator.State, explain func(*Event)) *track {
	t := h.track(*index, subject)
	*index++
	if t == nil {
		return nil
	}
	t.observed = h.observed
	now := max(s.At.Sub(h.began), t.until)
	t.write(now) // the status before lasted until now
	// Before all collectors have run, each one that runs may change which rule has no data.
	others := st != nil && status.Fails() && h.complete && !decide(t.flaps.rules, s, st)
	if status == t.status && !others {
		h.due(t, s.At)
		return t
	}
	e := &Event{At: inUTC(s.At), Generation: s.Generation, Subject: subject, From: t.status, To: status}
	if !t.since.IsZero() {
		e.LastedSeconds = s.At.Sub(t.since).Seconds()
	}
	if status != t.status {
		t.status, t.since = status, s.At
		t.write(now)
	}
	if e.From == None && status == OK {
		return t
	}
	if t.flaps.explains(e) {
		explain(e)
	}
	if st != nil {
		t.flaps.rules = e.names()
	}
	h.change(t, e)
	h.due(t, s.At)
	return t
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
		h.releaseAll(t)
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
	h.added = append(h.added, e)
}

// keep appends an event that has its ID to its ring.
func (h *History) keep(e *Event) {
	if (e.Kind == Rule || e.Kind == Collector) && e.Action == "" {
		h.others.keep(e)
	} else {
		h.states.keep(e)
	}
}

// inUTC returns a time in UTC, without the monotonic reading.
func inUTC(t time.Time) time.Time { return t.UTC().Round(0) }
