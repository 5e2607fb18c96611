package evaluator

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/internal/window"
)

// simulatedTimeout is how long a query of a simulation may take: it only has to end.
const simulatedTimeout = 100 * time.Second

// SimulationOptions are the options of a simulation. The zero value simulates the daemon.
type SimulationOptions struct {
	Options
	// ExternalLabels and ExternalURL are $externalLabels and $externalURL in templates.
	// The daemon has neither.
	ExternalLabels map[string]string
	ExternalURL    string
	// EveryGroup has every evaluation include all groups, whatever their intervals.
	EveryGroup bool
	// Hides reports whether a metric of the evaluator itself, such as vitals_state, is
	// hidden from the rules; nil hides none.
	Hides func(name string) bool
}

// Sample is a value that is appended to a simulation, or that a query returned.
type Sample struct {
	// Labels include the metric's name as __name__.
	Labels labels.Labels
	// T is in milliseconds since the epoch, which 0 means as well.
	T     int64
	Value float64
	// Histogram is a native histogram in the place of the value; nil for a float.
	Histogram *histogram.FloatHistogram
}

// Simulation runs an evaluator at times that the caller passes in. Samples are appended
// or delivered instead of collected, and are kept for ever. It is not safe for
// concurrent use.
//
// An appended series ends only by a stale marker (value.StaleNaN), or as in Prometheus
// when its last sample is older than 5 minutes.
type Simulation struct {
	cfg   Config
	opts  SimulationOptions
	core  *core
	input *window.Source
	// snapshot is that of the last evaluation.
	snapshot *Snapshot
}

// NewSimulation makes an evaluator that starts at at. The collectors of cfg are not run:
// Deliver takes what they would have returned.
func NewSimulation(cfg Config, opts SimulationOptions, at time.Time) (*Simulation, error) {
	s := &Simulation{cfg: cfg, opts: opts}
	return s, s.Restart(at)
}

// Restart simulates a restart at at: alerts, the timers of for and keep_firing_for, the
// statuses that hold keeps, transitions and all history are lost.
func (s *Simulation) Restart(at time.Time) error {
	c, err := newCoreFor(&s.opts, s.cfg, s.opts.Options, at)
	if err != nil {
		return err
	}
	// The daemon publishes its first snapshot before the first collection.
	c.generation = 1
	c.appended = appended{}
	s.core, s.input = c, c.window.Source()
	return nil
}

// Append adds samples. Those of a series must come in the order of time: a sample older
// than the last one is dropped. It returns an error if there are too many series.
func (s *Simulation) Append(samples ...Sample) error {
	s.core.timestamped = true // Samples have timestamps of their own: they expire one by one.
	for _, sample := range samples {
		if sample.Histogram != nil {
			s.core.histograms.Add(sample.Labels, sample.T, sample.Histogram)
			continue
		}
		s.core.appended[sample.Labels.Hash()] = promql.FPoint{T: sample.T, F: sample.Value}
		// A collection that does not end: no series becomes stale for not being in it.
		s.input.Begin(sample.T)
		if err := s.input.Add(sample.Labels, sample.Value, 0); err != nil {
			return err
		}
	}
	return nil
}

// Deliver takes over the outcome of a collection of a configured source that ended at
// at. It returns an error where there is no such source.
func (s *Simulation) Deliver(name string, b Batch, err error, at time.Time) error {
	for _, source := range s.core.sources {
		if source.Name == name {
			s.core.take(workers.Result{Collector: source.Collector, Samples: b.Samples, Descs: b.Descs, Err: err}, at)
			return nil
		}
	}
	return fmt.Errorf("no source is named %q", name)
}

// Apply replaces the configuration at at, as a reload does. It returns a snapshot of the
// new configuration before its first evaluation.
func (s *Simulation) Apply(ctx context.Context, cfg Config, at time.Time) (*Snapshot, error) {
	if err := s.core.apply(cfg, at); err != nil {
		return nil, err
	}
	s.cfg = cfg
	s.snapshot = s.core.snapshot(ctx, at, 0)
	return s.snapshot, nil
}

// appended are the last samples that were appended, by the hashes of their labels.
type appended map[uint64]promql.FPoint

// conflicts reports whether the series has another value at t already. In Prometheus the
// second one is then an error.
func (a appended) conflicts(hash uint64, t int64, v float64) bool {
	p, ok := a[hash]
	return ok && p.T == t && math.Float64bits(p.F) != math.Float64bits(v)
}

// Evaluate evaluates all rules as of at, which must not be before the last evaluation.
// Snapshots of a simulation hold all alerts.
func (s *Simulation) Evaluate(ctx context.Context, at time.Time) *Snapshot {
	s.core.evaluate(ctx, at)
	s.snapshot = s.core.snapshot(ctx, at, 0)
	return s.snapshot
}

// RuleError is the error of a rule's last evaluation.
type RuleError struct {
	Group string
	// Rule is the name of the alert or of the recorded series.
	Rule string
	Err  error
}

// Errors returns the errors of the rules whose last evaluation failed, in their order.
func (s *Simulation) Errors() []RuleError {
	var all []RuleError
	for g, e := range s.core.each() {
		r := e.rule()
		if err := e.err(); err != nil {
			all = append(all, RuleError{g.Name, r.Name(), err})
		}
	}
	return all
}

// Query evaluates an expression as of at over everything that has been appended and
// recorded since the last restart. The result is sorted by its labels.
func (s *Simulation) Query(ctx context.Context, expr string, at time.Time) ([]Sample, error) {
	vector, err := s.core.query.instant(ctx, expr, at)
	if err != nil {
		return nil, err
	}
	var all []Sample
	for _, e := range vector {
		all = append(all, Sample{Labels: e.Metric, T: e.T, Value: e.F, Histogram: e.H})
	}
	slices.SortStableFunc(all, func(a, b Sample) int { return labels.Compare(a.Labels, b.Labels) })
	return all, nil
}

// everyGroup reports whether groups' own intervals are ignored.
func (c *core) everyGroup() bool { return c.simulated != nil && c.simulated.EveryGroup }

// hides returns the function that reports which own metrics are hidden; nil for none.
func (c *core) hides() func(name string) bool {
	if c.simulated == nil {
		return nil
	}
	return c.simulated.Hides
}

// shownAlerts bounds the alerts of one rule in a snapshot.
func (c *core) shownAlerts() int {
	if c.simulated != nil {
		return math.MaxInt
	}
	return maxShownAlerts
}

// err returns the error of the rule's last evaluation.
func (e evaluated) err() error {
	if e.recording != nil {
		return e.recording.err
	}
	return e.alerting.err
}
