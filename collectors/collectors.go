// Package collectors measures: every kind of collector turns one dependency or
// one component of a workload into gauges. Collectors do not judge; thresholds
// belong to rules.
//
// A kind is one file: its configuration, the metrics it exports, Collect (which
// does the I/O) and pure functions that parse what came back.
package collectors

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Sample is one measured value of one series.
type Sample struct {
	// Labels identify the series; the metric's name is the label __name__.
	Labels labels.Labels
	Value  float64
	// T is the sample's own timestamp in milliseconds since the epoch. Zero, the
	// rule, means "now": the moment at which the round's result is taken over.
	T int64
}

// Desc describes a metric as the exposition formats want it.
type Desc struct {
	Name string
	// Help is one sentence, with the unit where the name has none.
	Help string
	Type model.MetricType
}

// Collector measures one thing. The evaluator calls Collect in a goroutine of
// its own, never twice at once, with the collector's timeout as the context's
// deadline.
type Collector interface {
	// Collect measures once and returns what it could measure together with an
	// error that says what it could not. An unreachable dependency is a
	// measurement (vitals_dependency_up 0) as well as an error. The slice and
	// its labels belong to the caller afterwards and are never changed again.
	Collect(ctx context.Context) ([]Sample, error)
	// Describe lists the metrics that Collect exports. It is called after
	// Collect, from the same goroutine, and may change from round to round.
	Describe() []Desc
}

// Runner is a Collector that keeps something open between rounds: a watch, a
// socket, shared memory. Run is called once, beside Collect, and returns soon
// after ctx ends. changed asks for a round at once; it never blocks and may be
// called from any goroutine.
type Runner interface {
	Collector
	Run(ctx context.Context, changed func())
}

// Noter is a Collector that says in one short line what its last round saw, also
// when all is well: what answered, from where, how fast. People read it; rules do
// not see it, and it never becomes a label.
type Noter interface {
	Collector
	// Note returns at most 200 bytes without line ends and without secrets, or "" where
	// there is nothing to say. It is called after Collect, from the same goroutine.
	Note() string
}

// Env is what a collector may use of the program around it.
type Env struct {
	// Name is the collector's name: the value of its label dependency or component.
	Name   string
	Logger *slog.Logger
	// Peer returns the collector that the configuration gives this name, or nil.
	Peer func(name string) Collector
	// Start calls start, which starts a process that the collector waits for, and has
	// nobody else wait for it from its first moment until release is called. Without an
	// error, release has to be called once. Start is nil where nobody else waits for
	// children.
	Start func(start func() (*os.Process, error)) (p *os.Process, release func(), err error)
}

// EpochSeconds is a moment in seconds since the epoch, with microseconds: the
// resolution that a float64 holds for the present.
func EpochSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
