package components

import (
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// collector is what is known of one collector. It does not read the clock and
// leaves locking to Components.
type collector struct {
	name     string
	expected bool
	// deadline is the longest silence after a report by call or datagram; 0 is none.
	deadline time.Duration

	// What it said by call or datagram. heard is zero until it did.
	alive, ready *bool
	reason       string
	heard        time.Time
	// speaks is set once it said more than how events ended, which come when there is
	// work: only then its silence says something.
	speaks bool
	// overdue is set once a passed deadline has asked for a round.
	overdue bool
	// shared is what its shared boolean says; nil if it has none.
	shared *evidence

	// kinds are the events that the configuration names, and tallies what the
	// component reported of them, by the same index: nil before the first.
	kinds   []eventKind
	tallies []*eventTally
	// turns counts the changes of failures in a row.
	turns uint64

	reports, invalid uint64
	last             time.Time
	via              string
}

// evidence is what a shared boolean says.
type evidence struct {
	// alive is nil while the boolean cannot be read.
	alive *bool
	// reason says why it cannot; empty otherwise.
	reason string
	// unwritten is when its file was last written, if that is longer ago than it may be.
	unwritten time.Time
}

// report takes what the component says about itself.
func (c *collector) report(at time.Time, r collectors.Report, via string) {
	alive := r.Alive
	if alive == nil {
		alive = c.alive
	}
	if alive == nil {
		alive = new(true)
	}
	if r.Reason != "" || r.Ready != nil || c.alive != nil && *c.alive != *alive {
		c.reason = collectors.OneLine(r.Reason, collectors.MaxReason)
	}
	c.alive = new(*alive)
	if r.Ready != nil {
		c.ready = new(*r.Ready)
	}
	c.begin()
	c.heard = at
	c.speaks = c.speaks || len(r.Events) == 0 || r.Alive != nil || r.Ready != nil || r.Reason != ""
	c.takeEvents(at, r.Events)
	c.count(at, via)
}

// begin lets the events of an expected component begin at 0 with its first report: it
// speaks, so that it reports no failure means that there was none. Of others nobody
// knows which events they have.
func (c *collector) begin() {
	if !c.expected || !c.heard.IsZero() {
		return
	}
	for i := range c.kinds {
		c.tally(i)
	}
}

// share takes what the component's shared boolean says.
func (c *collector) share(at time.Time, e evidence) {
	if e.alive != nil && e.unwritten.IsZero() {
		c.count(at, "shared_boolean")
	}
	c.shared = &e
}

func (c *collector) count(at time.Time, via string) {
	c.reports++
	c.last, c.via = at, via
}

// due is when the component must have reported again, or zero if it need not.
func (c *collector) due() time.Time {
	if c.deadline == 0 || !c.speaks {
		return time.Time{}
	}
	return c.heard.Add(c.deadline)
}

// rearm says whether a timer that was set for the former deadline would fire too
// late for the present one. A deadline that only moved back is not such a case: the
// timer fires early, and is set again.
func (c *collector) rearm(former time.Time) bool {
	due := c.due()
	if due.IsZero() || due.Equal(former) {
		return false
	}
	passed := c.overdue
	c.overdue = false
	return passed || former.IsZero() || due.Before(former)
}

// late says whether the component missed its deadline. Both moments carry Go's
// monotonic reading, so a step of the wall clock changes nothing.
func (c *collector) late(at time.Time) bool {
	due := c.due()
	return !due.IsZero() && !at.Before(due)
}

// status is what is known of the component at a moment. It is alive if everything
// that speaks for it says so, and a component that is not alive is not ready.
func (c *collector) status(at time.Time) Status {
	s := Status{
		Name: c.name, Expected: c.expected, Reported: c.reports > 0,
		Alive: c.alive, Ready: c.ready, Reason: c.reason, LastReport: c.last, Via: c.via,
	}
	if c.late(at) {
		s.Alive, s.Reason = new(false), "no report for "+silence(at.Sub(c.heard))
	}
	if said := s.Alive; c.shared != nil && (said == nil || *said) {
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

// silence prints a duration in whole seconds, or in milliseconds below one.
func silence(d time.Duration) string {
	if d < time.Second {
		return d.Truncate(time.Millisecond).String()
	}
	return d.Truncate(time.Second).String()
}
