package history

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/vitals-health/vitals/internal/explain"
)

// Kind is the kind of a subject.
type Kind string

// The kinds of subjects.
const (
	State     Kind = "state"
	Rule      Kind = "rule"
	Collector Kind = "collector"
	// Process is Vitals itself: its start, its end and the loading of its configuration.
	Process Kind = "process"
)

// Valid reports whether there is the kind.
func (k Kind) Valid() bool { return slices.Contains([]Kind{State, Rule, Collector, Process}, k) }

// Subject is what has a status: a state, a rule, a collector or the process.
type Subject struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// State is the state that a rule feeds, and Group the rule's group; empty otherwise.
	State string `json:"state,omitempty"`
	Group string `json:"group,omitempty"`
}

// Event is a change of a subject's status, with the explanation of that moment. Events are
// immutable. Durations are in seconds, and times are in UTC.
type Event struct {
	// ID increases with every event, also over restarts of the process unless the clock was
	// set back: the first is the start in microseconds since 1970.
	ID uint64    `json:"id"`
	At time.Time `json:"at"`
	// Generation is that of the snapshot. It counts from the start of the process.
	Generation uint64 `json:"generation"`
	Subject
	// From is the status before; empty for a subject that is new.
	From Status `json:"from"`
	To   Status `json:"to"`
	// LastedSeconds is how long the status before lasted; 0 for a subject that is new. Of a
	// start it is how long no process ran before, where that is recorded.
	LastedSeconds float64 `json:"lasted_seconds"`
	// Changes counts the changes of a subject that flaps if the event has several, and Begin is the time of the
	// first of them. At and To are then the time of the last change and the status after it, and From is the
	// status before the first. Zero in an event of a single change.
	Changes int       `json:"changes,omitempty"`
	Begin   time.Time `json:"begin,omitzero"`
	// Worst is the worst status of several changes, and WorstAt is when it began: Reason, Rules and Generation
	// explain that moment. Zero in an event of a single change.
	Worst   Status    `json:"worst,omitzero"`
	WorstAt time.Time `json:"worst_at,omitzero"`
	// Until is when the failure that went on after At ended, if later changes of the subject are joined with
	// other events. Zero if it ended with the next event of the subject.
	Until time.Time `json:"until,omitzero"`
	// FailingSeconds is how long the subject failed between Begin and At, or Until, by what the event names.
	FailingSeconds float64 `json:"failing_seconds,omitempty"`
	// Action is what happened if the status did not change: a silence or maintenance began or
	// ended. From and To are then the status at that moment.
	Action string `json:"action,omitempty"`
	// Reason is why a state fails without a rule, the error of a collector, or what the
	// process did.
	Reason string `json:"reason,omitempty"`
	// Rules are the rules that decide a state, causes first and at most maxRules of RuleCount;
	// of a rule it is the rule itself.
	Rules     []RuleMoment `json:"rules,omitempty"`
	RuleCount int          `json:"rule_count,omitempty"`
	// encoded is set when a History takes the event.
	encoded func() []byte
}

// JSON returns an event of a History as one line of JSON. It is encoded at the first call. All
// callers share the bytes and must not change them.
func (e *Event) JSON() []byte { return e.encoded() }

// encodedOnce returns a function that encodes the event at its first call. Expressions keep
// their < and >.
func (e *Event) encodedOnce() func() []byte {
	return sync.OnceValue(func() []byte {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(e); err != nil {
			panic("internal error: " + err.Error())
		}
		return bytes.Clone(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	})
}

// RuleMoment is a rule at the moment of an event.
type RuleMoment struct {
	Name     string `json:"name"`
	Group    string `json:"group"`
	Severity string `json:"severity,omitempty"`
	Status   Status `json:"status"`
	// Observe is set if the rule is shown and not obeyed.
	Observe bool `json:"observe,omitempty"`
	// SilencedUntil is the end of a silence; zero without one.
	SilencedUntil time.Time `json:"silenced_until,omitzero"`
	// Since is when the status began.
	Since      time.Time `json:"since,omitzero"`
	ForSeconds float64   `json:"for_seconds"`
	Expr       string    `json:"expr"`
	Summary    string    `json:"summary,omitempty"`
	// Value is the value of the deciding alert, and Labels are its labels; nil where there is
	// none. Threshold is what the expression compares it with, such as "== 0".
	Value     *explain.Number   `json:"value,omitempty"`
	Threshold string            `json:"threshold,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Alerts    int               `json:"alert_count,omitempty"`
	// Reason is why the status is unknown, and Note what the collectors found.
	Reason string `json:"reason,omitempty"`
	Note   string `json:"note,omitempty"`
	// Cause is the failing rule of which this one is a consequence, and Consequences are the
	// rules that are consequences of this one.
	Cause        string   `json:"cause,omitempty"`
	Consequences []string `json:"consequences,omitempty"`
	// Collectors are those that measure what the rule uses.
	Collectors []CollectorMoment `json:"collectors,omitempty"`
}

// CollectorMoment is a collector at the moment of an event.
type CollectorMoment struct {
	Name string `json:"name"`
	// Ran is set once a collection has ended, and Success if the last one succeeded.
	Ran     bool   `json:"ran"`
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
	// AgeSeconds is the age of the last values; nil before the first success.
	AgeSeconds *float64 `json:"age_seconds,omitempty"`
}

// The sizes of fixed parts in memory: the structs, with the headers of their strings.
const (
	eventSize = 320
	ruleSize  = 384
	partSize  = 64
)

// size returns about how many bytes of memory the event holds.
func (e *Event) size() int {
	n := eventSize + len(e.Name) + len(e.State) + len(e.Group) + len(e.Action) + len(e.Reason)
	for i := range e.Rules {
		n += e.Rules[i].size()
	}
	return n
}

func (r *RuleMoment) size() int {
	n := ruleSize + len(r.Name) + len(r.Group) + len(r.Severity) + len(r.Expr) + len(r.Summary) + len(r.Threshold) + len(r.Reason) + len(r.Note) + len(r.Cause)
	for name, value := range r.Labels {
		n += partSize + len(name) + len(value)
	}
	for _, name := range r.Consequences {
		n += partSize + len(name)
	}
	for _, c := range r.Collectors {
		n += partSize + len(c.Name) + len(c.Error)
	}
	return n
}
