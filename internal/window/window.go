// Package window keeps the samples of the last minutes in memory, as a
// storage.Queryable for Prometheus' PromQL engine.
//
// It keeps no more than queries need: for each metric name the history that SetRetention
// sets, and otherwise the last value only. Series that their sources stop exporting are
// marked stale, as Prometheus marks them.
package window

import (
	"errors"
	"maps"
	"math"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"

	"github.com/vitals-health/vitals/internal/budget"
)

const (
	// Lookback is how far instant selectors look back without SetLookback: Prometheus'
	// default.
	Lookback = 5 * time.Minute
	// sweepInterval is the time between two sweeps, in milliseconds of the batches' time.
	sweepInterval = 30_000
)

// ErrOwned is the error of Add for a series that another source exports.
var ErrOwned = errors.New("another source exports the series")

// Window holds samples. It has a single writer, and queries run in the goroutine of that
// writer, between two batches: there are no locks. The result of a query is valid until
// the next batch begins.
//
// All times are milliseconds since the epoch. The window's own time is the latest one at
// which a batch began; history is counted back from there.
type Window struct {
	families map[string]*family
	byHash   map[uint64]*series
	count    int
	// memory bounds what sources hold; nil for no bound.
	memory *budget.Budget

	perName map[string]time.Duration
	rest    time.Duration
	// lookback is in milliseconds.
	lookback int64

	now     int64
	swept   int64
	counter uint64 // the last mark that was given out, see Source.End

	// changes counts the changes, and forgotten is the number of the last one that
	// removed a whole family; see Changed.
	changes, forgotten uint64
}

// New returns an empty window that keeps last values only, without a bound of its memory.
func New() *Window { return NewWithin(nil) }

// NewWithin returns an empty window that keeps last values only. Each source has an account
// of the memory, which bounds its series.
func NewWithin(memory *budget.Budget) *Window {
	return &Window{
		families: map[string]*family{},
		byHash:   map[uint64]*series{},
		memory:   memory,
		lookback: Lookback.Milliseconds(),
		now:      math.MinInt64,
		swept:    math.MinInt64,
	}
}

// SetLookback sets how far the engine's instant selectors look back. A series with
// explicit timestamps, which is not marked stale, is kept for as long after its last
// sample.
func (w *Window) SetLookback(d time.Duration) { w.lookback = d.Milliseconds() }

// Changed returns a number that differs from the last call's with the same names if the
// last value of a series with one of these metric names has changed since, or such a
// series has appeared or ended. It may also differ without a change.
func (w *Window) Changed(names []string) uint64 {
	last := w.forgotten
	for _, name := range names {
		if f := w.families[name]; f != nil {
			last = max(last, f.changed)
		}
	}
	return last
}

// change numbers a change of the family.
func (w *Window) change(f *family) {
	w.changes++
	f.changed = w.changes
}

// Len returns the number of series, stale ones included that history is kept of.
func (w *Window) Len() int { return w.count }

// SetRetention sets how much history is kept: perName for the metric names in it, rest
// for all others. Zero keeps the last value only. What is kept of a name is every
// sample later than the window's time less its retention, and always the last one.
//
// An instant selector without offset needs none, if it is evaluated at the window's
// time or later. A range selector needs its range, an offset adds to that, and an
// instant selector with an offset needs the offset and the engine's lookback.
//
// A shorter retention takes effect at once; a longer one as samples come in.
func (w *Window) SetRetention(perName map[string]time.Duration, rest time.Duration) {
	w.perName, w.rest = maps.Clone(perName), rest
	for name, f := range w.families {
		f.retention = w.retention(name)
	}
	w.sweep()
}

func (w *Window) retention(name string) int64 {
	if d, ok := w.perName[name]; ok {
		return d.Milliseconds()
	}
	return w.rest.Milliseconds()
}

// Shift moves every sample by d, because the clock stepped by d: the ages of samples
// stay the same.
func (w *Window) Shift(d time.Duration) {
	ms := d.Milliseconds()
	for _, f := range w.families {
		for _, s := range f.series {
			for i := range s.points {
				s.points[i].T += ms
			}
		}
	}
	if w.now != math.MinInt64 {
		w.now += ms
		w.swept += ms
	}
}

// advance moves the window's time to t, if that is later.
func (w *Window) advance(t int64) {
	w.now = max(w.now, t)
	w.swept = max(w.swept, w.now-2*sweepInterval) // After the first batch, w.now - w.swept cannot overflow.
}

// find returns the series with these labels, or nil.
func (w *Window) find(hash uint64, l labels.Labels) *series {
	for s := w.byHash[hash]; s != nil; s = s.next {
		if labels.Equal(s.labels, l) {
			return s
		}
	}
	return nil
}

// create makes a series without samples, for which the account has been charged.
func (w *Window) create(hash uint64, l labels.Labels, account *budget.Account) *series {
	name := l.Get(model.MetricNameLabel)
	f := w.families[name]
	if f == nil {
		f = &family{name: name, retention: w.retention(name)}
		w.families[name] = f
	}
	s := &series{labels: l, hash: hash, family: f, next: w.byHash[hash], account: account}
	w.byHash[hash] = s
	f.add(s)
	w.count++
	return s
}

// remove removes a series and its samples.
func (w *Window) remove(s *series) {
	s.gone = true
	s.account.Add(-s.bytes())
	s.family.remove(s)
	w.change(s.family)
	if len(s.family.series) == 0 {
		delete(w.families, s.family.name)
		w.forgotten = w.changes
	}
	w.count--
	first := w.byHash[s.hash]
	if first == s && s.next == nil {
		delete(w.byHash, s.hash)
		return
	}
	if first == s {
		w.byHash[s.hash] = s.next
		return
	}
	for first.next != s {
		first = first.next
	}
	first.next = s.next
}

// markStale ends a series at t. Without history the marker is equivalent to no series,
// so the series is removed.
func (w *Window) markStale(s *series, t int64) {
	if s.family.retention == 0 {
		w.remove(s)
		return
	}
	if s.append(promql.FPoint{T: t, F: math.Float64frombits(value.StaleNaN)}, w.now, false) {
		w.change(s.family)
	}
}

// sweepIfDue sweeps if the last sweep was at least interval milliseconds ago.
func (w *Window) sweepIfDue(interval int64) {
	if w.now-w.swept >= interval {
		w.sweep()
	}
}

// sweep removes the samples and series that no query can need any more.
func (w *Window) sweep() {
	if w.now == math.MinInt64 {
		return
	}
	w.swept = w.now
	for _, f := range w.families {
		for i := len(f.series) - 1; i >= 0; i-- { // Backwards, as remove moves the last series forward.
			s := f.series[i]
			if s.expired(w.now, w.lookback) {
				w.remove(s)
				continue
			}
			s.prune(w.now)
		}
	}
}
