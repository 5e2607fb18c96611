package collectors

import "errors"

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
