package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

// Past is what earlier processes recorded. The zero value is nothing.
type Past struct {
	// Events are the last ones, the oldest first.
	Events []*Event
	// Seen is when the process before was last known to run; zero if that is not recorded.
	Seen time.Time
	// Overrides are the silences and the maintenance that lasted.
	Overrides []evaluator.Override
}

// The words that the reasons of two events of the process begin with.
const (
	started      = "started"
	shuttingDown = "shutting down"
)

// Resume returns a history that starts at now, after the events of earlier processes: with
// their events, their strips, and an event of the start. An event without a later ID than
// the one before is left out.
func Resume(now time.Time, past Past) *History {
	h := &History{began: now.Add(-coarseStep * time.Duration(coarseSlots)), nextID: uint64(max(0, now.UnixMicro())), known: map[key]*track{}, overrides: past.Overrides, changed: make(chan struct{}), closed: make(chan struct{})}
	start := &Event{At: inUTC(now), Subject: vitals(), To: OK, Reason: started}
	var id uint64
	var kept []*Event // also those that have no room in the rings
	for _, e := range past.Events {
		if e.ID <= id {
			continue
		}
		id, kept = e.ID, append(kept, e)
		if e.Changes > 1 && e.Worst == None {
			e.Worst, e.WorstAt = max(e.From, e.To), e.Begin // stored by an earlier version
		}
		h.keep(e)
	}
	if id > 0 {
		h.nextID = max(h.nextID, id)
		seen := past.seen(now)
		start.LastedSeconds = now.Sub(seen).Seconds()
		if !past.ended() {
			start.Reason = started + "; the process before it ended without notice, last seen " + seen.Format(time.DateTime)
		}
	}
	h.add(start)
	h.startID = start.ID
	h.fillStrips(append(kept, start), now)
	return h
}

// StartID returns the ID of the event of the start: those of this process are newer.
func (h *History) StartID() uint64 { return h.startID }

// seen returns when the process before was last seen: not before its last event, and not
// after now.
func (p Past) seen(now time.Time) time.Time {
	seen, last := p.Seen, p.Events[len(p.Events)-1].At
	if last.After(seen) {
		seen = last
	}
	if now.Before(seen) {
		seen = now // the clock was set back
	}
	return inUTC(seen)
}

// ended reports whether the process before recorded its end.
func (p Past) ended() bool {
	for _, e := range slices.Backward(p.Events) {
		switch {
		case e.starts():
			return false
		case e.Kind == Process && strings.HasPrefix(e.Reason, shuttingDown):
			return true
		}
	}
	return false
}

// status is one that a subject had from a time on.
type status struct {
	Status
	since time.Time
}

// fillStrips fills the strips of the time before now from events. Where a process left
// no event of a subject, its strip stays empty.
func (h *History) fillStrips(events []*Event, now time.Time) {
	current := map[Subject]status{}
	for _, e := range events {
		switch {
		case e.starts():
			end := e.seenBefore()
			for subject, s := range current {
				h.fill(subject, s.Status, s.since, end, now)
			}
			clear(current)
		case e.Kind != Process && e.Action == "":
			begin := e.start()
			since := begin.Add(-seconds(e.LastedSeconds))
			if s, ok := current[e.Subject]; ok {
				since = s.since
			}
			h.fill(e.Subject, e.From, since, begin, now)
			h.fillInside(e, now)
			current[e.Subject] = status{e.To, e.At}
		}
	}
}

// fillInside fills the strips of the time of an event of several changes. Where it failed for the smaller part of a
// longer time, only its worst moment shows.
func (h *History) fillInside(e *Event, now time.Time) {
	if e.Changes < 2 {
		return
	}
	worst, at := e.worst()
	span, rest := e.At.Sub(e.Begin), min(max(e.From, OK), max(e.To, OK))
	if span <= coarseStep || 2*seconds(e.FailingSeconds) >= span {
		rest = worst
	}
	h.fill(e.Subject, rest, e.Begin, at, now)
	h.fill(e.Subject, worst, at, at, now)
	h.fill(e.Subject, rest, at, e.At, now)
}

// merged returns the events of both rings that are newer than an ID, in their order.
func (h *History) merged(after uint64) []*Event {
	all := slices.Concat(h.states.newer(after), h.others.newer(after))
	slices.SortFunc(all, func(a, b *Event) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// starts reports whether the event is the start of a process.
func (e *Event) starts() bool { return e.Kind == Process && strings.HasPrefix(e.Reason, started) }

// seenBefore returns until when the process before a start was seen.
func (e *Event) seenBefore() time.Time { return e.At.Add(-seconds(e.LastedSeconds)) }

// fill adds to the strips of a subject a status that it had from one time to another, both
// before now.
func (h *History) fill(subject Subject, status Status, from, to, now time.Time) {
	t := h.trackOf(key{subject, 0})
	if t == nil || status == None || status == Removed {
		return
	}
	span := now.Sub(h.began)
	begin, end := max(span-now.Round(0).Sub(from), t.until), min(span-now.Round(0).Sub(to), span)
	if begin <= end { // an instant, too: what was seen last
		t.fine.add(status, begin, end)
		t.coarse.add(status, begin, end)
		t.until = end
	}
}

// End records that the process shuts down, with the verdicts of that moment, which it
// returns: such as "all ok". A later call, or a snapshot that shuts down, records nothing.
func (h *History) End(now time.Time) (verdicts string) {
	verdicts, added := h.recordEnd(now)
	h.log(added)
	return verdicts
}

// recordEnd records the end, and returns the verdicts and what is to be logged.
func (h *History) recordEnd(now time.Time) (verdicts string, added []*Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.added = nil
	verdicts = h.verdicts(now)
	h.end(now)
	close(h.changed)
	h.changed = make(chan struct{})
	return verdicts, h.toLog()
}

func (h *History) end(now time.Time) {
	if h.last.stopping {
		return
	}
	h.last.stopping = true
	h.stop()
	h.add(&Event{At: inUTC(now), Generation: h.last.generation, Subject: vitals(), To: OK, Reason: text.Clip(shuttingDown+": "+strings.ReplaceAll(h.verdicts(now), "\n", "; "), maxReason)})
}

// verdicts returns the states that are not ok as lines, with since when and why.
func (h *History) verdicts(now time.Time) string {
	var lines []string
	for _, t := range h.tracks {
		if t == nil || t.key.Kind != State || t.status == OK || t.status == None {
			continue
		}
		layout := time.TimeOnly
		if since, today := inUTC(t.since), inUTC(now); since.YearDay() != today.YearDay() || since.Year() != today.Year() {
			layout = time.DateTime
		}
		line := t.key.Name + " " + t.status.String() + " since " + inUTC(t.since).Format(layout)
		e := &Event{Subject: t.key.Subject}
		if i := slices.IndexFunc(h.last.snapshot.States, func(st evaluator.State) bool { return st.Name == e.Name }); i >= 0 {
			explainState(e, h.last.snapshot, &h.last.snapshot.States[i])
		}
		line = strings.TrimSuffix(line+": "+e.why(), ": ")
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "all ok"
	}
	return strings.Join(lines, "\n")
}
