package evaluator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator/internal/evidence"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
)

// ErrStopped is the error of every request to the evaluator once Run has ended.
var ErrStopped = errors.New("the evaluator has stopped")

// View gives read access to the samples and rules behind the newest snapshot. It is
// valid only during the call that it is passed to.
type View struct {
	core     *core
	snapshot *Snapshot
}

// View calls use between two evaluations while Run runs. The context that use gets ends
// after 250 ms, or earlier: that is the time of all uses in a second, whatever the evaluation
// interval. A use gets at least half of it, if need be in the next second. View returns
// ErrStopped once Run has ended, or the error of ctx; use may then still run.
func (e *Evaluator) View(ctx context.Context, use func(context.Context, *View)) error {
	done := make(chan struct{})
	call := func(running context.Context) {
		defer close(done)
		if ctx.Err() != nil {
			return
		}
		began := time.Now()
		limited, cancel := context.WithTimeout(running, e.viewBudget.begin())
		defer cancel()
		use(limited, &View{e.core, e.Snapshot()})
		e.viewBudget.spent += time.Since(began)
	}
	for views := e.views; ; views = nil { // after the first turn the loop has the call
		select {
		case views <- call:
		case <-done:
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		case <-e.done:
			return ErrStopped
		}
	}
}

// View calls use with the state after the last evaluation. There must have been one
// since the start.
func (s *Simulation) View(ctx context.Context, use func(context.Context, *View)) error {
	use(ctx, &View{s.core, s.snapshot})
	return nil
}

// Snapshot returns the snapshot of the last evaluation.
func (v *View) Snapshot() *Snapshot { return v.snapshot }

// At returns the time of the last evaluation. It differs from the snapshot's where the
// clock has stepped since.
func (v *View) At() time.Time { return v.core.at }

// Query evaluates an expression as of at. The value is valid only during the call of use.
func (v *View) Query(ctx context.Context, expr string, at time.Time, use func(parser.Value) error) error {
	return v.core.query.run(ctx, expr, at, use)
}

// SampleTime returns the time of the newest sample that an instant selector finds of a
// series as of at.
func (v *View) SampleTime(series labels.Labels, at time.Time) (t time.Time, ok bool) {
	ms, ok := v.core.window.Newest(series, at.Add(-v.core.absent.Lookback).UnixMilli(), at.UnixMilli())
	return time.UnixMilli(ms).UTC(), ok
}

// Exporter returns the collector that exports a series, or "". own is set for the
// evaluator's own metrics; the collector is then the one that the label collector names.
func (v *View) Exporter(series labels.Labels) (collector string, own bool) {
	for _, s := range v.core.sources {
		if s.series.Exports(series) {
			return s.Name, false
		}
	}
	if !v.core.own.series.Exports(series) {
		return "", false
	}
	name := series.Get("collector")
	if slices.ContainsFunc(v.core.sources, func(s *source) bool { return s.Name == name }) {
		return name, true
	}
	return "", true
}

// CanExport reports whether the configuration of a collector allows series that a selector
// selects. It is true where the labels of the metric are not known in advance.
func (v *View) CanExport(collector string, selector *parser.VectorSelector) bool {
	known := false
	for _, m := range v.core.cfg.Metrics[collector] {
		if m.Name != promexpr.MetricName(selector) {
			continue
		}
		known = true
		if promexpr.CanMatch(selector.LabelMatchers, m.Labels, m.AnyLabel) {
			return true
		}
	}
	return !known
}

// Recording is a recording rule after an evaluation.
type Recording struct {
	Rule rules.Rule
	// Group is the rule's group, and File its file as the configuration names it.
	Group, File string
	QueryOffset time.Duration
	// Evaluated is when the rule was last evaluated; zero before that.
	Evaluated time.Time
	// Err is the last evaluation's error, nil after a success.
	Err    error
	source *window.Source
}

// Failing returns the names of the failing collectors that may export a metric.
func (v *View) Failing(metric string) (collectors []string) {
	if evidence.OfAlerts(metric) {
		return nil
	}
	for _, f := range v.core.failuresOf([]string{metric}) {
		if f.failure() != "" {
			collectors = append(collectors, f.Name)
		}
	}
	return collectors
}

// Recordings returns the recording rules in the order of their files.
func (v *View) Recordings() []*Recording {
	var all []*Recording
	for g, e := range v.core.each() {
		if r := e.recording; r != nil {
			all = append(all, &Recording{r.rule, g.Name, g.file, g.QueryOffset, g.last, r.err, r.source})
		}
	}
	return all
}

// Exports reports whether the rule's last evaluation wrote this series.
func (r *Recording) Exports(series labels.Labels) bool { return r.source.Exports(series) }
