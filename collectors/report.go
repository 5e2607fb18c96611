package collectors

import "errors"

// Errors of whoever takes reports, to be compared with errors.Is.
var (
	// ErrUnknownComponent means that reports of this name are not accepted.
	ErrUnknownComponent = errors.New("unknown component")
	// ErrInvalidReport means that no component can send this report.
	ErrInvalidReport = errors.New("invalid report")
)

// Report is a component's report of its own health. A nil pointer leaves the value of the
// report before. A component that never reported Alive is alive, because it reports; one
// that never reported Ready is unknown.
type Report struct {
	Alive *bool `json:"alive,omitempty"`
	Ready *bool `json:"ready,omitempty"`
	// Reason is a short text for people. It replaces the last one when it is not
	// empty, when Ready is given, and when Alive changes. It is cut at 512 bytes.
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
	// Error is the class of a failure. An empty one, and one that the configuration does
	// not name for the event, counts as "other".
	Error string `json:"error,omitempty"`
}
