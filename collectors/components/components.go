// Package components takes the reports of the workload's own parts: calls, sd_notify datagrams,
// HTTP reports and shared booleans.
package components

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

const (
	// maxComponents bounds the names that reports may add where any is accepted.
	maxComponents = 1000
)

// Status is what is known of one component at one moment.
type Status struct {
	Name string
	// Expected says whether the configuration names the component.
	Expected bool
	// Reported says whether the component ever reported.
	Reported bool
	// Alive and Ready are nil while nothing is known.
	Alive, Ready *bool
	// Reason is the component's own, or says what is missing; at most 512 bytes in one line.
	Reason string
	// LastReport is the zero time before the first report.
	LastReport time.Time
	// Via is how the last report came: call, notify or shared_boolean; empty before the first.
	Via string
	// Events are how what the component did ended, by name; those not yet begun are missing.
	Events []EventStatus
}

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
	// wake makes Run look at the deadlines again.
	wake chan struct{}

	// mu guards what follows.
	mu      sync.Mutex
	changed func() // nil before Run
	known   map[string]*collector
	faults  map[string]error // by component: why its socket does not listen
}

// Report takes a component's report. It takes effect at once: a change of alive, of
// ready or of the failures in a row asks for a round. It returns collectors.ErrUnknownComponent
// if the name is not expected and others are not accepted, or if there are 1,000
// names already, and collectors.ErrInvalidReport if the name cannot be a component's or an
// event is not one that the configuration names. A refused report changes nothing.
func (c *Collector) Report(name string, r collectors.Report) error {
	return c.report(time.Now(), name, r)
}

func (c *Collector) report(at time.Time, name string, r collectors.Report) error {
	if problems := collectors.NameProblem("", name); problems != nil {
		return fmt.Errorf("%w: %s", collectors.ErrInvalidReport, collectors.OneLine(problems[0].Text, collectors.MaxReason))
	}
	if problem := c.eventProblem(r.Events); problem != "" {
		return fmt.Errorf("%w: %s", collectors.ErrInvalidReport, collectors.OneLine(problem, collectors.MaxReason))
	}
	return c.update(at, name, func(comp *collector) { comp.report(at, r, "call") })
}

// Status returns all known components: the expected ones in the order of the
// configuration, then all others by name. The caller owns the result.
func (c *Collector) Status() []Status { return c.status(time.Now()) }

func (c *Collector) status(at time.Time) []Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Status, 0, len(c.known))
	for _, name := range c.namesLocked() {
		s := c.known[name].status(at)
		s.Events = c.known[name].eventStatus()
		all = append(all, s)
	}
	return all
}

// Collect exports what the components have said. Its error names the sockets that
// do not listen.
func (c *Collector) Collect(context.Context) ([]collectors.Sample, error) {
	return c.collect(time.Now())
}

func (c *Collector) collect(at time.Time) ([]collectors.Sample, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b collectors.Batch
	var errs []error
	for _, name := range c.namesLocked() {
		addComponent(&b, c.known[name], at)
		if err := c.faults[name]; err != nil {
			errs = append(errs, err)
		}
	}
	addComponentEventLimits(&b, c.events)
	return b.Samples, errors.Join(errs...)
}

// addComponent appends what is known of one component at a moment.
func addComponent(b *collectors.Batch, c *collector, at time.Time) {
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
	addComponentEvents(b, c)
}

// Describe implements Collector.
func (c *Collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// update changes one component under the lock and, afterwards, asks for a round if
// the change is one that a verdict can depend on.
func (c *Collector) update(at time.Time, name string, change func(*collector)) error {
	c.mu.Lock()
	comp, err := c.findLocked(name)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	before, due, turns := comp.status(at), comp.due(), comp.turns
	change(comp)
	after := comp.status(at)
	turned := comp.turns != turns
	ask := c.changed
	rearm := comp.rearm(due)
	c.mu.Unlock()

	if rearm {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
	if ask != nil && (turned || before.Reported != after.Reported || !same(before.Alive, after.Alive) || !same(before.Ready, after.Ready)) {
		ask()
	}
	return nil
}

// findLocked returns the component of a valid name, and adds it where it may.
func (c *Collector) findLocked(name string) (*collector, error) {
	if comp := c.known[name]; comp != nil {
		return comp, nil
	}
	if !c.acceptsAny {
		return nil, fmt.Errorf("%w %q: expected one of %s", collectors.ErrUnknownComponent, name, collectors.OneLine(strings.Join(c.expected, ", "), collectors.MaxReason))
	}
	if len(c.known) >= maxComponents {
		return nil, fmt.Errorf("%w %q: %d components have reported already", collectors.ErrUnknownComponent, name, len(c.known))
	}
	return c.addLocked(name), nil
}

func (c *Collector) addLocked(name string) *collector {
	deadline, ok := c.deadlines[name]
	if !ok {
		deadline = c.deadline
	}
	comp := &collector{name: name, deadline: deadline, kinds: c.events}
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

func same(a, b *bool) bool {
	return a == b || a != nil && b != nil && *a == *b
}
