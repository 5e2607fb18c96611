package collectors

import (
	"errors"
	"time"
)

// Errors of a collector that accepts reports, to be compared with errors.Is.
var (
	// ErrUnknownComponent means that the collector does not accept reports of this name.
	ErrUnknownComponent = errors.New("unknown component")
	// ErrInvalidReport means that the report is invalid for every component.
	ErrInvalidReport = errors.New("invalid report")
)

// Report is a component's report of its own health. A nil pointer keeps the value of the
// previous report. A component that never reported Alive is alive, because it reports; one
// that never reported Ready is unknown.
type Report struct {
	Alive *bool `json:"alive,omitempty"`
	Ready *bool `json:"ready,omitempty"`
	// Reason is a short text for people. It replaces the previous one if it is not empty,
	// if Ready is set, or if Alive changes. It is cut at 512 bytes.
	Reason string `json:"reason,omitempty"`
	// Events are results of the component's operations, in order: at most 100.
	Events []Event `json:"events,omitempty"`
}

// Event is the result of one operation of a component.
type Event struct {
	// Event is a name from the configuration.
	Event string `json:"event"`
	// Result is success, failure or reset.
	Result string `json:"result"`
	// Error is the class of a failure. An empty class, and one that the configuration does
	// not list for the event, counts as "other".
	Error string `json:"error,omitempty"`
}

// Reporter is a Collector that accepts reports of components. Its methods are safe for concurrent
// use.
type Reporter interface {
	Collector
	// Report records a report of a component. It returns ErrUnknownComponent or
	// ErrInvalidReport for a report that it rejects, which changes nothing.
	Report(component string, r Report) error
	// Status returns all known components. The caller owns the result.
	Status() []ComponentStatus
}

// ComponentStatus is the state of one component.
type ComponentStatus struct {
	Name string
	// Expected is whether the configuration names the component.
	Expected bool
	// Reported is whether the component has ever reported.
	Reported bool
	// Alive and Ready are nil while unknown.
	Alive, Ready *bool
	// Reason is that of the report or of Vitals: one line of at most 512 bytes.
	Reason string
	// LastReport is the zero time before the first report.
	LastReport time.Time
	// Via is the source of the last report: call, notify or shared_boolean; empty before the first.
	Via string
	// Events are the counts of its events by name. An event that is not counted yet is missing.
	Events []EventStatus
}

// EventStatus has the counts of the events of one name of a component.
type EventStatus struct {
	Event string
	// Success, Failure and Excused count the events by result.
	Success, Failure, Excused uint64
	// ConsecutiveFailures are the failures since the last success, without excused ones.
	ConsecutiveFailures uint64
	// Limit is the allowed number of consecutive failures; nil is no limit.
	Limit *int
}
