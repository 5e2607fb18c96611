package components

import (
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// component is the state of one component. It does not read the clock. The lock of
// Collector guards it.
type component struct {
	name     string
	expected bool
	// deadline is the longest time after a report by call or datagram; 0 is none.
	deadline time.Duration

	// The state by calls and datagrams. reportedAt is the time of the last one, or zero.
	alive, ready *bool
	reason       string
	reportedAt   time.Time
	// supervised is set by the first report with more than events. The deadline applies
	// then: events alone come only when there is work.
	supervised bool
	// overdue is set when a passed deadline has started a collection.
	overdue bool
	// resumedAt is when this process last continued after it was stopped; zero if never. A
	// deadline begins anew then, unless the component had missed it before.
	resumedAt time.Time
	// shared is the state by the shared boolean; nil if it has none.
	shared *evidence

	// kinds are the configured events. tallies are their counts by the same index, nil
	// before the first event.
	kinds   []eventKind
	tallies []*eventTally
	// streakChanges counts the changes of consecutive failures.
	streakChanges uint64

	reports, invalid uint64
	last             time.Time
	via              string
}

// evidence is the state of a component by its shared boolean.
type evidence struct {
	// alive is nil while the boolean cannot be read.
	alive *bool
	// reason is the reason for that; empty otherwise.
	reason string
	// unwritten is the time of the last write if the deadline has passed since then.
	unwritten time.Time
}

// report records a report of the component.
func (c *component) report(at time.Time, r collectors.Report, via string) {
	alive := r.Alive
	if alive == nil {
		alive = c.alive
	}
	if alive == nil {
		alive = new(true)
	}
	if r.Reason != "" || r.Ready != nil || c.alive != nil && *c.alive != *alive {
		c.reason = text.Short(r.Reason, collectors.MaxReason)
	}
	c.alive = new(*alive)
	if r.Ready != nil {
		c.ready = new(*r.Ready)
	}
	c.startEvents()
	c.reportedAt = at
	c.supervised = c.supervised || len(r.Events) == 0 || r.Alive != nil || r.Ready != nil || r.Reason != ""
	c.countEvents(at, r.Events)
	c.count(at, via)
}

// startEvents creates the counts of an expected component at 0 with its first report: no
// reported failure then means that there was none. Other components may have other events.
func (c *component) startEvents() {
	if !c.expected || !c.reportedAt.IsZero() {
		return
	}
	for i := range c.kinds {
		c.tally(i)
	}
}

// share records the state by the shared boolean.
func (c *component) share(at time.Time, e evidence) {
	if e.alive != nil && e.unwritten.IsZero() {
		c.count(at, "shared_boolean")
	}
	c.shared = &e
}

func (c *component) count(at time.Time, via string) {
	c.reports++
	c.last, c.via = at, via
}

// due is the time by which the component must report again, zero for no deadline.
func (c *component) due() time.Time {
	if c.deadline == 0 || !c.supervised {
		return time.Time{}
	}
	since := c.reportedAt
	if since.Before(c.resumedAt) {
		since = c.resumedAt
	}
	return since.Add(c.deadline)
}

// rearm reports whether a timer for the former deadline would fire too late for the new
// one. If the new one is later, the timer fires early and is set again.
func (c *component) rearm(former time.Time) bool {
	due := c.due()
	if due.IsZero() || due.Equal(former) {
		return false
	}
	passed := c.overdue
	c.overdue = false
	return passed || former.IsZero() || due.Before(former)
}

// late reports whether the component missed its deadline. Both times have a monotonic
// clock reading, so a step of the wall clock has no effect.
func (c *component) late(at time.Time) bool {
	due := c.due()
	return !due.IsZero() && !at.Before(due)
}

// forgotten reports whether the component is neither expected nor has reported for long. One
// that fails stays, because without it the rules would pass: it is not alive, which includes
// a passed deadline, not ready, or has consecutive failures.
func (c *component) forgotten(at time.Time) bool {
	if c.expected || at.Sub(c.last) < forgetAfter {
		return false
	}
	s := c.status(at)
	failing := func(tally *eventTally) bool { return tally != nil && tally.streak > 0 }
	return *s.Alive && (s.Ready == nil || *s.Ready) && !slices.ContainsFunc(c.tallies, failing)
}

// status returns the state of the component. It is alive if both its reports and its
// shared boolean are true. A component that is not alive is not ready.
func (c *component) status(at time.Time) Status {
	s := Status{
		Name: c.name, Expected: c.expected, Reported: c.reports > 0,
		Alive: c.alive, Ready: c.ready, Reason: c.reason, LastReport: collectors.OnClock(at, c.last), Via: c.via,
	}
	if c.late(at) {
		s.Alive, s.Reason = new(false), "no report for "+silence(at.Sub(c.reportedAt))
	}
	if c.shared != nil && (s.Alive == nil || *s.Alive) {
		s.Alive = c.shared.alive
		switch {
		case s.Alive == nil:
			s.Reason = c.shared.reason
		case !c.shared.unwritten.IsZero():
			s.Reason = "shared boolean not written for " + silence(at.Sub(c.shared.unwritten))
		case !*s.Alive:
			s.Reason = "shared boolean is false"
		}
	}
	if s.Alive != nil && !*s.Alive && s.Ready != nil {
		s.Ready = new(false)
	}
	if s.Reason == "" && !s.Reported {
		s.Reason = "never reported"
	}
	return s
}

// silence formats a duration in whole seconds, or in milliseconds below one.
func silence(d time.Duration) string {
	if d < time.Second {
		return d.Truncate(time.Millisecond).String()
	}
	return d.Truncate(time.Second).String()
}
