package evaluator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"golang.org/x/time/rate"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/internal/window"
)

// source is a collector with the result of its last collection and its series.
type source struct {
	Source
	series *window.Source
	status CollectorStatus
	parts  workers.Parts
	batch  Batch
	// measured is set once a collection, also of a collector that this one replaced, had
	// samples.
	measured bool
	// inheritedUntil is set while status, batch and series are those of the collector
	// that this one replaced in a reload: until its first collection ends, and at most
	// until that time. Zero otherwise.
	inheritedUntil time.Time
	// refusals limits the lines of the log about the memory.
	refusals *rate.Limiter
}

// replaceSources keeps the sources that stay, has new ones inherit from those that they
// replace, and ends the series of the rest.
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
			s = c.inheritSource(replaced[key], cfg, at)
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

// inheritSource returns the source of a new collector. It inherits the last samples of
// old, which has the same name and kind or is nil, for an interval and a timeout at
// most: otherwise every change of a collector would cause missing evidence for a moment.
// Further changes do not extend that time.
func (c *core) inheritSource(old *source, cfg Source, at time.Time) *source {
	if old == nil {
		return &source{series: c.window.Owner(), refusals: rate.NewLimiter(rate.Every(workers.ChangePause), workers.NewChanges)}
	}
	if old.inheritedUntil.IsZero() {
		old.inheritedUntil = at.Add(cfg.Interval + cfg.Timeout)
	}
	return old
}

// expireInherited ends the inherited series of collectors that have finished no
// collection in time.
func (c *core) expireInherited(at time.Time) {
	for _, s := range c.sources {
		if s.inheritedUntil.IsZero() || at.Before(s.inheritedUntil) {
			continue
		}
		s.series.Close(at.UnixMilli())
		s.series, s.batch, s.parts, s.inheritedUntil = c.window.Owner(), Batch{}, workers.Parts{}, time.Time{}
		s.status = CollectorStatus{Name: s.Name, Kind: s.Kind, External: s.External, Interval: s.Interval}
	}
}

// jobs returns the collectors with their times.
func (c *core) jobs() []workers.Job {
	var all []workers.Job
	for _, s := range c.cfg.Sources {
		all = append(all, workers.Job{Name: s.Name, Interval: s.Interval, Timeout: s.Timeout, Collector: s.Collector})
	}
	return all
}

// allRan reports whether every collector has finished a collection.
func (c *core) allRan() bool {
	return !slices.ContainsFunc(c.sources, func(s *source) bool { return !s.status.Ran })
}

// take takes over the result of a collection that ended at at. It reports whether the
// collector is still configured.
func (c *core) take(r workers.Result, at time.Time) bool {
	for _, s := range c.sources {
		if s.Collector == r.Collector {
			c.timestamped = c.timestamped || slices.ContainsFunc(r.Samples, func(s collectors.Sample) bool { return s.T != 0 })
			if !s.measured && len(r.Samples) > 0 {
				c.measured(s)
			}
			before := s.status.Refused
			s.take(r, at)
			if s.status.Refused != before && s.refusals.AllowN(at, 1) {
				c.logRefusal(s)
			}
			return true
		}
	}
	return false
}

// logRefusal logs that the samples of a collector take too much memory, or no longer do.
func (c *core) logRefusal(s *source) {
	if s.status.Refused {
		c.opts.Logger.Warn("the samples of the collector are not kept", "collector", s.Name, "err", s.status.Error)
		return
	}
	c.opts.Logger.Info("the samples of the collector are kept again", "collector", s.Name)
}

func (s *source) take(r workers.Result, at time.Time) {
	s.measured = s.measured || len(r.Samples) > 0
	samples, err := s.write(r.Samples, r.Essential, at)
	s.batch = Batch{Descs: r.Descs, Samples: samples}
	s.status.Refused = errors.Is(err, budget.ErrExceeded)
	if r.Err != nil && !s.status.Refused {
		err = r.Err
	}
	s.status.Ran, s.status.Success, s.status.Error = true, err == nil, ""
	s.status.Duration, s.status.LastRun, s.status.Note, s.parts = r.Took, at, r.Note, r.Parts
	if err != nil {
		s.status.Error = bound(err.Error())
		return
	}
	s.status.LastSuccess = at
}

// write adds the samples to the window and returns them without those of series that
// another source exports. Series that are not among them are marked stale; inherited ones
// end, also those with explicit timestamps. Without memory for all samples it adds the essential ones.
func (s *source) write(samples []collectors.Sample, essential int, at time.Time) ([]collectors.Sample, error) {
	if !s.inheritedUntil.IsZero() {
		left := s.series
		s.series, s.inheritedUntil = left.Successor(), time.Time{}
		defer left.Close(at.UnixMilli())
	}
	s.series.Protect(essential)
	s.series.Begin(at.UnixMilli())
	kept, dropped := samples, 0
	var first labels.Labels // of those that are dropped
	for i, sample := range samples {
		err := s.series.Add(sample.Labels, sample.Value, sample.T)
		switch {
		case err == nil && dropped == 0:
		case err == nil:
			kept = append(kept, sample)
		case !errors.Is(err, window.ErrOwned):
			s.series.Abort()
			if i < essential || essential == 0 {
				return nil, err
			}
			first, _ := s.write(samples[:essential], essential, at)
			return first, err
		case dropped == 0:
			kept, first = slices.Clone(samples[:i]), sample.Labels
			fallthrough
		default:
			dropped++
		}
	}
	s.series.End()
	if dropped == 0 {
		return samples, nil
	}
	return kept, fmt.Errorf("%s dropped: other collectors or rules export the series, such as %s%s", text.Plural(dropped, "sample"), first.Get(model.MetricNameLabel), first.DropReserved(isMetricName))
}

func (s *source) shift(d time.Duration) {
	s.status.LastRun, s.status.LastSuccess = shifted(s.status.LastRun, d), shifted(s.status.LastSuccess, d)
	s.inheritedUntil = shifted(s.inheritedUntil, d)
}

func isMetricName(label string) bool { return label == model.MetricNameLabel }
