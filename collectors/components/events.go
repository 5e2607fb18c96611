package components

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// The metrics of the kind components.
var (
	eventsMetric                   = collectors.NewCounter("vitals_component_events_total", "How many events the component reported, by how they ended; an excused failure is one that a restart cannot cure.", "component", "event", "result")
	eventErrorsMetric              = collectors.NewCounter("vitals_component_event_errors_total", "How many failures the component reported, excused ones too, by the class of the error.", "component", "error", "event")
	consecutiveFailuresMetric      = collectors.NewGauge("vitals_component_consecutive_failures", "How many failures the component reported since its last success, excused ones not counted.", "component", "event")
	lastFailureMetric              = collectors.NewGauge("vitals_component_last_failure_timestamp_seconds", "When the component last reported a failure that is not excused, in seconds since the epoch; absent before the first.", "component", "event")
	consecutiveFailuresLimitMetric = collectors.NewGauge("vitals_component_consecutive_failures_limit", "How many failures in a row are fine by the configuration.", "event")
)

// maxEvents bounds the events of one report.
const maxEvents = 100

// The values of Event.Result.
const (
	// EventSuccess ends the failures in a row.
	EventSuccess = "success"
	// EventFailure is one failure more in a row, unless its error is excused.
	EventFailure = "failure"
	// EventReset says that the component has begun anew: there are no failures in a
	// row, and nothing is counted.
	EventReset = "reset"
)

// EventStatus is how the events of one name ended that a component reported.
type EventStatus struct {
	Event string
	// Success, Failure and Excused are how many ended so.
	Success, Failure, Excused uint64
	// ConsecutiveFailures are the failures since the last success, excused ones not counted.
	ConsecutiveFailures uint64
	// Limit is how many failures in a row are fine; nil where the configuration has none.
	Limit *int
}

// eventKind is what the configuration says about the events of one name.
type eventKind struct {
	name string
	// limit is how many failures in a row are fine; nil is no limit.
	limit *int
	// classes are the errors that count, then those that are excused, then other.
	classes []string
	// counting is how many of the classes are at the beginning and count.
	counting int
}

// class returns the index of an error's class, and whether it is excused.
func (k *eventKind) class(err string) (index int, excused bool) {
	other := len(k.classes) - 1
	if index = slices.Index(k.classes, err); index < 0 {
		index = other
	}
	return index, index >= k.counting && index < other
}

// eventTally counts the events of one name that one component reported.
type eventTally struct {
	success, failure, excused uint64
	// streak is the number of failures in a row, and failed when the last one came:
	// zero before the first.
	streak uint64
	failed time.Time
	// errors counts the failures, excused ones too, by the index of their class.
	errors []uint64
}

// take counts one event.
func (t *eventTally) take(at time.Time, k *eventKind, e collectors.Event) {
	switch e.Result {
	case EventReset:
		t.streak = 0
	case EventSuccess:
		t.success++
		t.streak = 0
	case EventFailure:
		class, excused := k.class(e.Error)
		t.errors[class]++
		if excused {
			t.excused++
			return
		}
		t.failure++
		t.streak++
		t.failed = at
	}
}

// eventProblem says why events cannot be taken: "" if they can.
func (c *Collector) eventProblem(events []collectors.Event) string {
	if n := len(events); n > maxEvents {
		return fmt.Sprintf("%d events: expected at most %d in a report", n, maxEvents)
	}
	for _, e := range events {
		if findEvent(c.events, e.Event) < 0 {
			return fmt.Sprintf("event %.64q: %s", e.Event, c.expectedEvents())
		}
		switch e.Result {
		case EventSuccess, EventReset:
			if e.Error != "" {
				return fmt.Sprintf("event %q: result %s with the error %.64q: expected an error with a failure only", e.Event, e.Result, e.Error)
			}
		case EventFailure:
		default:
			return fmt.Sprintf("event %q: result %.64q: expected %s, %s or %s", e.Event, e.Result, EventSuccess, EventFailure, EventReset)
		}
	}
	return ""
}

func (c *Collector) expectedEvents() string {
	var names []string
	for _, k := range c.events {
		names = append(names, k.name)
	}
	if names == nil {
		return "expected none, because the configuration names no events"
	}
	return "expected one of " + strings.Join(names, ", ")
}

// findEvent returns the index of an event's name, or -1.
func findEvent(kinds []eventKind, name string) int {
	return slices.IndexFunc(kinds, func(k eventKind) bool { return k.name == name })
}

// takeEvents counts events whose names and results are known to be valid.
func (c *collector) takeEvents(at time.Time, events []collectors.Event) {
	for _, e := range events {
		i := findEvent(c.kinds, e.Event)
		tally := c.tally(i)
		before := tally.streak
		tally.take(at, &c.kinds[i], e)
		if tally.streak != before {
			c.turns++
		}
	}
}

// tally returns the count of the event with an index, and begins it at 0.
func (c *collector) tally(i int) *eventTally {
	if c.tallies == nil {
		c.tallies = make([]*eventTally, len(c.kinds))
	}
	if c.tallies[i] == nil {
		c.tallies[i] = &eventTally{errors: make([]uint64, len(c.kinds[i].classes))}
		c.turns++
	}
	return c.tallies[i]
}

// eventStatus returns the counts of the events that have begun. The caller owns the
// result.
func (c *collector) eventStatus() []EventStatus {
	var all []EventStatus
	for i, t := range c.tallies {
		if t == nil {
			continue
		}
		s := EventStatus{Event: c.kinds[i].name, Success: t.success, Failure: t.failure, Excused: t.excused, ConsecutiveFailures: t.streak}
		if limit := c.kinds[i].limit; limit != nil {
			s.Limit = new(*limit)
		}
		all = append(all, s)
	}
	return all
}

// addComponentEvents appends what one component reported of its events.
func addComponentEvents(b *collectors.Batch, c *collector) {
	for i, t := range c.tallies {
		if t == nil {
			continue
		}
		k := &c.kinds[i]
		count := func(result string, n uint64) {
			b.Set(eventsMetric, float64(n), c.name, k.name, result)
		}
		count("success", t.success)
		count("failure", t.failure)
		count("excused", t.excused)
		for j, n := range t.errors {
			b.Set(eventErrorsMetric, float64(n), c.name, k.classes[j], k.name)
		}
		b.Set(consecutiveFailuresMetric, float64(t.streak), c.name, k.name)
		if !t.failed.IsZero() {
			b.Set(lastFailureMetric, collectors.EpochSeconds(t.failed), c.name, k.name)
		}
	}
}

// addComponentEventLimits appends the limits of the configuration.
func addComponentEventLimits(b *collectors.Batch, kinds []eventKind) {
	for _, k := range kinds {
		if k.limit != nil {
			b.Set(consecutiveFailuresLimitMetric, float64(*k.limit), k.name)
		}
	}
}

func eventDefs() []*collectors.Def {
	return []*collectors.Def{
		eventsMetric,
		eventErrorsMetric,
		consecutiveFailuresMetric,
		lastFailureMetric,
		consecutiveFailuresLimitMetric,
	}
}
