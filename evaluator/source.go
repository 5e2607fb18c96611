package evaluator

import (
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/window"
)

// source is a collector as the core sees it: what came of its last round, and the
// series that it owns.
type source struct {
	Source
	series *window.Source
	status CollectorStatus
	batch  Batch
	// inherited is until when all of that is what the collector has left that was here
	// before a reload; zero once a round of this one has ended, and without such a one.
	inherited time.Time
}

// result is the outcome of one round of a collector. One that did not return in time,
// or panicked, has measured nothing: there are no samples.
type result struct {
	collector collectors.Collector
	samples   []collectors.Sample
	descs     []collectors.Desc
	err       error
	note      string
	took      time.Duration
	// stack is where the collector panicked; nil if it did not.
	stack []byte
}

// replaceSources takes over the sources that stay, and what those have left that others
// replace; it ends the series of the rest.
func (c *core) replaceSources(at time.Time) {
	before := map[collectors.Collector]*source{}
	for _, s := range c.sources {
		before[s.Collector] = s
	}
	replaced := map[[2]string]*source{}
	for _, s := range c.sources {
		if !slices.ContainsFunc(c.cfg.Sources, func(cfg Source) bool { return cfg.Collector == s.Collector }) {
			replaced[[2]string{s.Name, s.Kind}] = s
		}
	}
	c.sources = nil
	for _, cfg := range c.cfg.Sources {
		s := before[cfg.Collector]
		if s == nil {
			key := [2]string{cfg.Name, cfg.Kind}
			s = c.heir(replaced[key], cfg, at)
			delete(replaced, key)
		}
		delete(before, cfg.Collector)
		delete(before, s.Collector)
		s.Source = cfg
		s.status.Name, s.status.Kind, s.status.External, s.status.Interval = cfg.Name, cfg.Kind, cfg.External, cfg.Interval
		c.sources = append(c.sources, s)
	}
	for _, s := range before {
		s.series.Close(at.UnixMilli())
	}
}

// heir is the source of a new collector. What one of the same name and kind knew last
// stays until the new one has finished a round, an interval and a timeout at most, or
// every change of a collector would be missing evidence for a moment. It is not
// prolonged by further changes.
func (c *core) heir(old *source, cfg Source, at time.Time) *source {
	if old == nil {
		return &source{series: c.window.Source()}
	}
	if old.inherited.IsZero() {
		old.inherited = at.Add(cfg.Interval + cfg.Timeout)
	}
	return old
}

// endInheritance ends what collectors have left whose successors have finished no round
// in time.
func (c *core) endInheritance(at time.Time) {
	for _, s := range c.sources {
		if s.inherited.IsZero() || at.Before(s.inherited) {
			continue
		}
		s.series.Close(at.UnixMilli())
		s.series, s.batch, s.inherited = c.window.Source(), Batch{}, time.Time{}
		s.status = CollectorStatus{Name: s.Name, Kind: s.Kind, External: s.External, Interval: s.Interval}
	}
}

// allRan says whether every collector has finished a round.
func (c *core) allRan() bool {
	return !slices.ContainsFunc(c.sources, func(s *source) bool { return !s.status.Ran })
}

// take takes over the result of a round that ended at at. It says whether the
// collector is still configured.
func (c *core) take(r result, at time.Time) bool {
	for _, s := range c.sources {
		if s.Collector == r.collector {
			c.timed = c.timed || slices.ContainsFunc(r.samples, func(s collectors.Sample) bool { return s.T != 0 })
			s.take(c.window, r, at)
			return true
		}
	}
	return false
}

func (s *source) take(w *window.Window, r result, at time.Time) {
	err := r.err
	s.batch = Batch{Descs: r.descs, Samples: r.samples}
	if full := s.write(w, r.samples, at); err == nil {
		err = full
	}
	s.status.Ran, s.status.Success, s.status.Error = true, err == nil, ""
	s.status.Duration, s.status.LastRun, s.status.Note = r.took, at, r.note
	if err != nil {
		s.status.Error = bound(err.Error())
		return
	}
	s.status.LastSuccess = at
}

// write feeds the window; series that the round no longer has are marked stale. Those
// that were inherited end then, whatever their timestamps.
func (s *source) write(w *window.Window, samples []collectors.Sample, at time.Time) error {
	if !s.inherited.IsZero() {
		left := s.series
		s.series, s.inherited = w.Source(), time.Time{}
		defer left.Close(at.UnixMilli())
	}
	s.series.Round(at.UnixMilli())
	defer s.series.End()
	for _, sample := range samples {
		if err := s.series.Add(sample.Labels, sample.Value, sample.T); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) shift(d time.Duration) {
	s.status.LastRun, s.status.LastSuccess = shifted(s.status.LastRun, d), shifted(s.status.LastSuccess, d)
	s.inherited = shifted(s.inherited, d)
}
