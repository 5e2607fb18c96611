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

// replaceSources takes over the sources that stay and ends the series of the others.
func (c *core) replaceSources(at time.Time) {
	before := map[collectors.Collector]*source{}
	for _, s := range c.sources {
		before[s.Collector] = s
	}
	c.sources = nil
	for _, cfg := range c.cfg.Sources {
		s := before[cfg.Collector]
		delete(before, cfg.Collector)
		if s == nil {
			s = &source{series: c.window.Source()}
		}
		s.Source = cfg
		s.status.Name, s.status.Kind, s.status.External, s.status.Interval = cfg.Name, cfg.Kind, cfg.External, cfg.Interval
		c.sources = append(c.sources, s)
	}
	for _, s := range before {
		s.series.Stale(at.UnixMilli())
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
			s.take(r, at)
			return true
		}
	}
	return false
}

func (s *source) take(r result, at time.Time) {
	err := r.err
	s.batch = Batch{Descs: r.descs, Samples: r.samples}
	if full := s.write(r.samples, at); err == nil {
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

// write feeds the window; series that the round no longer has are marked stale.
func (s *source) write(samples []collectors.Sample, at time.Time) error {
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
}
