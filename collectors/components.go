package collectors

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// The errors of Components.Report, to be compared with errors.Is.
var (
	// ErrUnknownComponent says that reports of this name are not accepted.
	ErrUnknownComponent = errors.New("unknown component")
	// ErrInvalidReport says that the report cannot belong to any component.
	ErrInvalidReport = errors.New("invalid report")
)

const (
	// maxComponents bounds the names that reports may add where any is accepted.
	maxComponents = 1000
)

// Report is what a component says about itself. A nil pointer leaves what the
// component said before. A component that has said nothing about Alive is alive,
// because it speaks; one that has said nothing about Ready is unknown.
type Report struct {
	Alive *bool `json:"alive,omitempty"`
	Ready *bool `json:"ready,omitempty"`
	// Reason is a short text for people. It replaces the last one when it is not
	// empty, when Ready is given, and when Alive changes. It is cut at 512 bytes.
	Reason string `json:"reason,omitempty"`
	// Events are how things ended that the component did, in their order: at most 100.
	Events []ComponentEvent `json:"events,omitempty"`
}

// ComponentStatus is what is known of one component at one moment.
type ComponentStatus struct {
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

// Components is the collector of the kind components. Its methods are safe for
// concurrent use.
type Components struct {
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
	known   map[string]*component
	faults  map[string]error // by component: why its socket does not listen
}

// Report takes a component's report. It takes effect at once: a change of alive, of
// ready or of the failures in a row asks for a round. It returns ErrUnknownComponent
// if the name is not expected and others are not accepted, or if there are 1,000
// names already, and ErrInvalidReport if the name cannot be a component's or an
// event is not one that the configuration names. A refused report changes nothing.
func (c *Components) Report(name string, r Report) error {
	return c.report(time.Now(), name, r)
}

func (c *Components) report(at time.Time, name string, r Report) error {
	if problems := nameProblem("", name); problems != nil {
		return fmt.Errorf("%w: %s", ErrInvalidReport, oneLine(problems[0].Text, maxReason))
	}
	if problem := c.eventProblem(r.Events); problem != "" {
		return fmt.Errorf("%w: %s", ErrInvalidReport, oneLine(problem, maxReason))
	}
	return c.update(at, name, func(comp *component) { comp.report(at, r, "call") })
}

// Status returns all known components: the expected ones in the order of the
// configuration, then all others by name. The caller owns the result.
func (c *Components) Status() []ComponentStatus { return c.status(time.Now()) }

func (c *Components) status(at time.Time) []ComponentStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]ComponentStatus, 0, len(c.known))
	for _, name := range c.namesLocked() {
		s := c.known[name].status(at)
		s.Events = c.known[name].eventStatus()
		all = append(all, s)
	}
	return all
}

// Collect exports what the components have said. Its error names the sockets that
// do not listen.
func (c *Components) Collect(context.Context) ([]Sample, error) {
	return c.collect(time.Now())
}

func (c *Components) collect(at time.Time) ([]Sample, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b batch
	var errs []error
	for _, name := range c.namesLocked() {
		addComponent(&b, c.known[name], at)
		if err := c.faults[name]; err != nil {
			errs = append(errs, err)
		}
	}
	addComponentEventLimits(&b, c.events)
	return b.samples, errors.Join(errs...)
}

// addComponent appends what is known of one component at a moment.
func addComponent(b *batch, c *component, at time.Time) {
	s := c.status(at)
	if s.Expected {
		b.set(componentsExpectedMetric, 1, s.Name)
	}
	b.set(componentsReportedMetric, number(s.Reported), s.Name)
	if s.Alive != nil {
		b.set(componentsAliveMetric, number(*s.Alive), s.Name)
	}
	if s.Ready != nil {
		b.set(componentsReadyMetric, number(*s.Ready), s.Name)
	}
	if s.Reported {
		b.set(componentsLastReportMetric, epochSeconds(s.LastReport), s.Name)
	}
	b.set(componentsReportsMetric, float64(c.reports), s.Name)
	b.set(componentsInvalidReportsMetric, float64(c.invalid), s.Name)
	addComponentEvents(b, c)
}

// Describe implements Collector.
func (c *Components) Describe() []Desc { return describe(componentsDefs()) }

// update changes one component under the lock and, afterwards, asks for a round if
// the change is one that a verdict can depend on.
func (c *Components) update(at time.Time, name string, change func(*component)) error {
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
func (c *Components) findLocked(name string) (*component, error) {
	if comp := c.known[name]; comp != nil {
		return comp, nil
	}
	if !c.acceptsAny {
		return nil, fmt.Errorf("%w %q: expected one of %s", ErrUnknownComponent, name, oneLine(strings.Join(c.expected, ", "), maxReason))
	}
	if len(c.known) >= maxComponents {
		return nil, fmt.Errorf("%w %q: %d components have reported already", ErrUnknownComponent, name, len(c.known))
	}
	return c.addLocked(name), nil
}

func (c *Components) addLocked(name string) *component {
	deadline, ok := c.deadlines[name]
	if !ok {
		deadline = c.deadline
	}
	comp := &component{name: name, deadline: deadline, kinds: c.events}
	c.known[name] = comp
	return comp
}

func (c *Components) namesLocked() []string {
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
