// Package components receives health reports of parts of the workload: calls, sd_notify
// datagrams, HTTP reports and shared booleans.
package components

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// maxComponents is the limit of names if any name is accepted.
const maxComponents = 1000

// forgetAfter is how long a name that is not expected is kept after its last report: a day
// covers work that runs once a day.
const forgetAfter = 24 * time.Hour

// Status is the state of one component.
type Status = collectors.ComponentStatus

// Collector is the collector of the kind components. Its methods are safe for
// concurrent use.
type Collector struct {
	expected   []string
	acceptsAny bool
	deadline   time.Duration
	deadlines  map[string]time.Duration
	events     []eventKind
	mode       fs.FileMode
	sockets    []*notifySocket
	booleans   []*sharedBoolean
	// wake makes Run compute the next deadline.
	wake chan struct{}

	// mu guards the fields below.
	mu      sync.Mutex
	changed func() // nil before Run
	known   map[string]*component
	// nextCheck is when Run checks the deadlines next; zero while it does not wait for one.
	nextCheck time.Time
	faults    map[string]error // by component: the error of its socket
	// essential is how many samples of the last collection are of expected components.
	essential int
}

// Report records a report of a component. A change of alive, of ready or of the
// consecutive failures starts a collection. It returns collectors.ErrUnknownComponent if
// the name is not accepted or there are 1,000 names already, and
// collectors.ErrInvalidReport for an invalid name or an event that is not configured. A
// rejected report changes nothing.
func (c *Collector) Report(name string, r collectors.Report) error {
	return c.report(time.Now(), name, r)
}

func (c *Collector) report(at time.Time, name string, r collectors.Report) error {
	if problems := collectors.NameProblem("", name); problems != nil {
		return fmt.Errorf("%w: %s", collectors.ErrInvalidReport, text.Short(problems[0].Text, collectors.MaxReason))
	}
	if problem := c.eventProblem(r.Events); problem != "" {
		return fmt.Errorf("%w: %s", collectors.ErrInvalidReport, text.Short(problem, collectors.MaxReason))
	}
	return c.update(at, name, func(comp *component) { comp.report(at, r, "call") })
}

// Status returns all known components: the expected ones in the order of the
// configuration, then all others by name. The caller owns the result.
func (c *Collector) Status() []Status { return c.status(time.Now()) }

func (c *Collector) status(at time.Time) []Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStopLocked(at)
	c.forgetLocked(at)
	all := make([]Status, 0, len(c.known))
	for _, name := range c.namesLocked() {
		s := c.known[name].status(at)
		s.Events = c.known[name].eventStatus()
		all = append(all, s)
	}
	return all
}

// Collect exports the states of the components. Its error names the sockets that do not
// listen.
func (c *Collector) Collect(context.Context) ([]collectors.Sample, error) {
	return c.collect(time.Now())
}

func (c *Collector) collect(at time.Time) ([]collectors.Sample, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStopLocked(at)
	c.forgetLocked(at)
	var b collectors.Batch
	var errs []error
	addEventLimits(&b, c.events)
	for i, name := range c.namesLocked() {
		if i <= len(c.expected) {
			c.essential = len(b.Samples)
		}
		addSamples(&b, c.known[name], at)
		if err := c.faults[name]; err != nil {
			errs = append(errs, err)
		}
	}
	if len(c.known) == len(c.expected) {
		c.essential = len(b.Samples)
	}
	return b.Samples, errors.Join(errs...)
}

// Essential implements Prioritizer: the samples of the expected components. Others may be many
// with accept: any.
func (c *Collector) Essential() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.essential
}

// addSamples appends the samples of one component.
func addSamples(b *collectors.Batch, c *component, at time.Time) {
	s := c.status(at)
	if s.Expected {
		b.Set(expectedMetric, 1, s.Name)
	}
	b.Set(reportedMetric, collectors.Number(s.Reported), s.Name)
	if s.Alive != nil {
		b.Set(aliveMetric, collectors.Number(*s.Alive), s.Name)
	}
	if s.Ready != nil {
		b.Set(readyMetric, collectors.Number(*s.Ready), s.Name)
	}
	if s.Reported {
		b.Set(lastReportMetric, collectors.EpochSeconds(s.LastReport), s.Name)
	}
	b.Set(reportsMetric, float64(c.reports), s.Name)
	b.Set(invalidReportsMetric, float64(c.invalid), s.Name)
	addEvents(b, c, at)
}

// Describe implements Collector.
func (c *Collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// update changes one component under the lock. It then starts a collection if a verdict or
// its note can depend on the change.
func (c *Collector) update(at time.Time, name string, change func(*component)) error {
	c.mu.Lock()
	comp, err := c.findLocked(at, name)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	c.noticeStopLocked(at)
	before, due, streakChanges := comp.status(at), comp.due(), comp.streakChanges
	change(comp)
	after := comp.status(at)
	streakChanged := comp.streakChanges != streakChanges
	changed := c.changed
	rearm := comp.rearm(due)
	c.mu.Unlock()

	if rearm {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
	if changed != nil && (streakChanged || differs(before, after)) {
		changed()
	}
	return nil
}

// forgetLocked removes the names that may be forgotten.
func (c *Collector) forgetLocked(at time.Time) {
	if c.acceptsAny {
		maps.DeleteFunc(c.known, func(_ string, comp *component) bool { return comp.forgotten(at) })
	}
}

// findLocked returns the component of a valid name. It adds an accepted new one.
func (c *Collector) findLocked(at time.Time, name string) (*component, error) {
	if comp := c.known[name]; comp != nil {
		return comp, nil
	}
	if !c.acceptsAny {
		return nil, fmt.Errorf("%w %q: expected one of %s", collectors.ErrUnknownComponent, name, text.Short(strings.Join(c.expected, ", "), collectors.MaxReason))
	}
	if len(c.known) >= maxComponents {
		c.forgetLocked(at)
	}
	if len(c.known) >= maxComponents {
		return nil, fmt.Errorf("%w %q: %d components have reported already", collectors.ErrUnknownComponent, name, len(c.known))
	}
	return c.addLocked(name), nil
}

func (c *Collector) addLocked(name string) *component {
	deadline, ok := c.deadlines[name]
	if !ok {
		deadline = c.deadline
	}
	comp := &component{name: name, deadline: deadline, kinds: c.events}
	c.known[name] = comp
	return comp
}

func (c *Collector) namesLocked() []string {
	names := slices.Clone(c.expected)
	for name, comp := range c.known {
		if !comp.expected {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(c.expected):])
	return names
}

func equal(a, b *bool) bool {
	return a == b || a != nil && b != nil && *a == *b
}
