package collectors

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/budget"
)

// Sample is one measured value of one series.
type Sample struct {
	// Labels identify the series. The label __name__ is the metric's name.
	Labels labels.Labels
	Value  float64
	// T is the sample's own timestamp in milliseconds since the epoch. Zero, the usual
	// value, means the time at which the collection ends. A later one is a mistake: rules
	// would not find the sample before that time.
	T int64
}

// Collector measures one thing. The evaluator calls Collect in a separate goroutine, never
// concurrently with itself, with the collector's timeout as the context's deadline.
type Collector interface {
	// Collect measures once. It returns the values that it could measure, together with
	// an error for those that it could not. An unreachable dependency is both a value
	// (vitals_dependency_up 0) and an error. The caller owns the slice and its labels;
	// the collector must not change them afterwards.
	Collect(ctx context.Context) ([]Sample, error)
	// Describe lists the metrics that Collect exports. It is called after Collect, in the
	// same goroutine. The list may change between collections.
	Describe() []Desc
}

// Runner is a Collector that keeps something open between collections: a watch, a socket,
// shared memory. Run is called once, concurrently with Collect, and returns soon after ctx
// ends. A call of changed requests a collection at once, whose context Requested recognizes; it
// never blocks and is safe for concurrent use.
type Runner interface {
	Collector
	Run(ctx context.Context, changed func())
}

// Noter is a Collector that summarizes its last collection in one short line, also after a
// success: the server's address, the status, the latency. The line is for people; it is not
// visible to rules and never becomes a label. Where there is no note, the error of the last
// collection is shown in its place.
type Noter interface {
	Collector
	// Note returns one line of at most 200 bytes without secrets, or "" for no summary.
	// It is called after Collect, in the same goroutine.
	Note() string
}

// PartNoter is a Collector of several parts, such as components, each with a note of its own.
type PartNoter interface {
	Collector
	// PartNotes returns the label that names a part, and notes by its value. Each is one
	// line of at most 200 bytes, as that of a Noter. It is called after Collect, in the same
	// goroutine. The caller owns the map.
	PartNotes() (label string, notes map[string]string)
}

// Prioritizer is a Collector whose first samples are kept although there is no memory for all.
type Prioritizer interface {
	Collector
	// Essential returns how many of the samples of the last collection, from the first on, are
	// kept. It is called after Collect, in the same goroutine.
	Essential() int
}

// Env is the environment of a collector: what it may use of the program.
type Env struct {
	// Name is the collector's name: the value of its label dependency or component.
	Name   string
	Logger *slog.Logger
	// Interval and Timeout are those of the collections. A change of them makes a new collector
	// only for several targets.
	Interval, Timeout time.Duration
	// Peer returns the collector with this name in the configuration, or nil.
	Peer func(name string) Collector
	// Start calls start, which starts a process that the collector will wait for. Until
	// release is called, the program does not reap that process. If err is nil, release
	// must be called once. Start is nil in a program that does not reap processes.
	Start func(start func() (*os.Process, error)) (p *os.Process, release func(), err error)
	// Memory is for what the collector keeps of a target's series between collections. The
	// program closes it when the collector is no longer used. Nil has no limit.
	Memory *budget.Account
	// Bodies is for answers while they are read and parsed. Nil has no limit.
	Bodies *budget.Bodies
	// Secrets has the program hide these values in all its output; see Hide.
	Secrets func(values ...string)
}

// Hide has the program hide values in all its output. A collector calls it with each secret that it
// reads from a file or receives from a server, before it uses it. Those of its configuration are
// hidden already.
func (e Env) Hide(values ...string) {
	if e.Secrets != nil {
		e.Secrets(values...)
	}
}

// OnClock returns when t was, by the clock as it is at now: a step of the clock in between
// does not change the age. Both times need their monotonic readings. The zero time stays
// zero.
func OnClock(now, t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return now.Add(-now.Sub(t))
}

// EpochSeconds returns the time in seconds since the epoch. A float64 can represent present
// times with a resolution of microseconds.
func EpochSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
