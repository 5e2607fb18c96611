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
	eventsMetric                   = collectors.NewCounter("vitals_component_events_total", "Number of events that the component reported, by result; a restart cannot fix an excused failure.", "component", "event", "result")
	eventErrorsMetric              = collectors.NewCounter("vitals_component_event_errors_total", "Number of failures that the component reported, including excused ones, by class of the error.", "component", "error", "event")
	consecutiveFailuresMetric      = collectors.NewGauge("vitals_component_consecutive_failures", "Number of failures since the last success, without excused ones.", "component", "event")
	lastFailureMetric              = collectors.NewGauge("vitals_component_last_failure_timestamp_seconds", "Time of the last failure that is not excused, in seconds since the epoch; absent before the first.", "component", "event")
	consecutiveFailuresLimitMetric = collectors.NewGauge("vitals_component_consecutive_failures_limit", "Number of consecutive failures that the configuration allows.", "event")
)

// maxEvents bounds the events of one report.
const maxEvents = 100

// The values of Event.Result.
const (
	// EventSuccess sets the consecutive failures to 0.
	EventSuccess = "success"
	// EventFailure adds a consecutive failure unless its error is excused.
	EventFailure = "failure"
	// EventReset sets the consecutive failures to 0 and counts nothing. A component
	// reports it when it starts.
	EventReset = "reset"
)

// EventStatus has the counts of the events of one name of a component.
type EventStatus = collectors.EventStatus

// eventKind is the configuration of the events of one name.
type eventKind struct {
	name string
	// limit is the allowed number of consecutive failures; nil is no limit.
	limit *int
	// classes are the errors that count, then the excused ones, then other.
	classes []string
	// counting is the number of classes that count, without other.
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
	// streak is the number of consecutive failures. failed is the time of the last one,
	// zero before the first.
	streak uint64
	failed time.Time
	// errors counts the failures, including excused ones, by the index of their class.
	errors []uint64
}

// count counts one event.
func (t *eventTally) count(at time.Time, k *eventKind, e collectors.Event) {
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

// eventProblem returns the reason why events are rejected, "" if they are valid.
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

// countEvents counts valid events.
func (c *component) countEvents(at time.Time, events []collectors.Event) {
	for _, e := range events {
		i := findEvent(c.kinds, e.Event)
		tally := c.tally(i)
		before := tally.streak
		tally.count(at, &c.kinds[i], e)
		if tally.streak != before {
			c.streakChanges++
		}
	}
}

// tally returns the counts of the event with an index. It creates them at 0.
func (c *component) tally(i int) *eventTally {
	if c.tallies == nil {
		c.tallies = make([]*eventTally, len(c.kinds))
	}
	if c.tallies[i] == nil {
		c.tallies[i] = &eventTally{errors: make([]uint64, len(c.kinds[i].classes))}
		c.streakChanges++
	}
	return c.tallies[i]
}

// eventStatus returns the counts of the events. The caller owns the result.
func (c *component) eventStatus() []EventStatus {
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

// addEvents appends the samples of the events of one component.
func addEvents(b *collectors.Batch, c *component, at time.Time) {
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
			b.Set(lastFailureMetric, collectors.EpochSeconds(collectors.OnClock(at, t.failed)), c.name, k.name)
		}
	}
}

// addEventLimits appends the limits of the configuration.
func addEventLimits(b *collectors.Batch, kinds []eventKind) {
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
