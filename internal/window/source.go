package window

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// Source is one producer of samples: a collector, or a recording rule. It writes
// batches: Begin, Add for every sample, End. Batches do not overlap, neither of one
// source nor of several.
//
// Sources may export the same series, except those that Owner returns. The last sample
// written is then its value, and the series is stale when the last of them has stopped
// exporting it. The series of a source that is no longer used stay until Close or Stale.
type Source struct {
	w *Window
	t int64
	// previous and current are the series of the last batch and of this one; current
	// may have a series twice.
	previous, current []*series
	// owns is set if the source shares no series, and before is the source whose series it
	// may take over in its first batch, or nil.
	owns   bool
	before *Source
}

// Source returns a new source that exports nothing yet.
func (w *Window) Source() *Source { return &Source{w: w} }

// Owner returns a new source that shares no series. It gets those that no other source
// exports. A source that shares may take a series from it.
func (w *Window) Owner() *Source { return &Source{w: w, owns: true} }

// Successor returns a new source that takes over series of s, which must write no more
// batches. Close s after the first batch of the successor.
func (s *Source) Successor() *Source { return &Source{w: s.w, owns: s.owns, before: s} }

// Begin begins a batch at t. A batch that is not ended only adds samples.
func (s *Source) Begin(t int64) {
	s.t = t
	s.w.advance(t)
	s.current = s.current[:0]
}

// Add adds a sample to the batch; the window keeps l. An explicitT other than zero is
// the sample's own timestamp. Then, as in Prometheus, a sample that is not later than
// the series' last one is dropped without an error, and the series will not be marked
// stale. Without, a sample replaces one of the same time. Add returns an error that
// wraps ErrLimit if the series is new and the window is full, and ErrOwned if the source
// shares no series and another one exports this series.
func (s *Source) Add(l labels.Labels, v float64, explicitT int64) error {
	p := promql.FPoint{T: s.t, F: v}
	if explicitT != 0 {
		p.T = explicitT
	}
	found := s.guess(l)
	if found == nil {
		hash := l.Hash()
		if found = s.w.find(hash, l); found == nil {
			if p.T <= s.w.now-max(s.w.retention(l.Get(model.MetricNameLabel)), s.w.lookback) {
				return nil // No query could find it.
			}
			var err error
			if found, err = s.w.create(hash, l); err != nil {
				return err
			}
		}
	}
	if !s.own(found) {
		return ErrOwned
	}
	if found.append(p, s.w.now, explicitT != 0) {
		s.w.change(found.family)
	}
	s.current = append(s.current, found)
	return nil
}

// own makes the source the owner of a series, or nil if it shares. It returns false if
// another source keeps the series.
func (s *Source) own(x *series) bool {
	if !s.owns {
		x.owner = nil
		return true
	}
	if x.sources > 0 && (x.owner == nil || x.owner != s && x.owner != s.before) {
		return false
	}
	x.owner = s
	return true
}

// guess finds the series without hashing: sources tend to export the same series in
// the same order.
func (s *Source) guess(l labels.Labels) *series {
	if i := len(s.current); i < len(s.previous) {
		if p := s.previous[i]; labels.Equal(p.labels, l) {
			return p
		}
	}
	return nil
}

// End ends the batch: series that the previous batch had and this one has not are marked
// stale.
func (s *Source) End() {
	before, now := s.w.counter+1, s.w.counter+2
	s.w.counter += 2
	for _, p := range s.previous {
		p.mark = before
	}
	kept := s.current[:0]
	for _, c := range s.current {
		if c.mark == now || c.gone {
			continue // Added twice, or as a stale marker that was swept since.
		}
		if c.mark != before {
			c.sources++
		}
		c.mark = now
		kept = append(kept, c)
	}
	clear(s.current[len(kept):])
	for _, p := range s.previous {
		if p.mark != now {
			s.leave(p)
		}
	}
	clear(s.previous)
	s.previous, s.current, s.before = kept, s.previous[:0], nil
	s.w.sweepIfDue(sweepInterval)
}

// Stale marks all series of the source stale at t: there is no batch for t. Series with
// explicit timestamps are not marked, as in Prometheus; they expire with the lookback.
func (s *Source) Stale(t int64) {
	s.t = t
	s.w.advance(t)
	for _, p := range s.previous {
		s.leave(p)
	}
	s.previous, s.current = nil, nil
	s.w.sweepIfDue(sweepInterval)
}

// Close ends all series of the source at t, for a source that is no longer used. Series
// with explicit timestamps are removed with their history, as a marker would reject
// later samples with an older timestamp. Series that other sources export continue.
func (s *Source) Close(t int64) {
	s.t = t
	s.w.advance(t)
	for _, p := range s.previous {
		switch p.sources--; {
		case p.sources > 0:
		case p.explicit:
			s.w.remove(p)
		default:
			s.w.markStale(p, t)
		}
	}
	s.previous, s.current = nil, nil
	s.w.sweepIfDue(sweepInterval)
}

// leave ends the export of p by this source.
func (s *Source) leave(p *series) {
	if p.sources--; p.sources == 0 && !p.explicit {
		s.w.markStale(p, s.t)
	}
}

// Exports reports whether the source's last batch had a series with these labels.
func (s *Source) Exports(l labels.Labels) bool {
	found := s.w.find(l.Hash(), l)
	return found != nil && slices.Contains(s.previous, found)
}
