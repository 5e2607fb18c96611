package window

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// Source is one producer of samples: a collector, or a recording rule. It delivers
// rounds: Round, Add for every sample, End. Rounds do not overlap, neither of one
// source nor of several.
//
// Sources may export the same series. The last sample written is then its value, and
// the series is stale when the last of them has stopped exporting it. A source that is
// given up has to be told with Close or Stale, or its series stay.
type Source struct {
	w *Window
	t int64
	// previous and current are the series of the last round and of this one; current
	// may name a series twice.
	previous, current []*series
}

// Source returns a new source that exports nothing yet.
func (w *Window) Source() *Source { return &Source{w: w} }

// Round begins a round at t. A round that was begun and not ended counts for nothing
// but the samples that were added.
func (s *Source) Round(t int64) {
	s.t = t
	s.w.advance(t)
	s.current = s.current[:0]
}

// Add adds a sample to the round; the window keeps l. An explicitT other than zero is
// the sample's own timestamp. Then, as in Prometheus, a sample that is not later than
// the series' last one is dropped without an error, and the series will not be marked
// stale. Without, a sample replaces one of the same time. Add returns an error that
// wraps ErrLimit if the series is new and the window is full.
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
				return nil // Nobody would ever see it.
			}
			var err error
			if found, err = s.w.create(hash, l); err != nil {
				return err
			}
		}
	}
	if found.append(p, s.w.now, explicitT != 0) {
		s.w.change(found.family)
	}
	s.current = append(s.current, found)
	return nil
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

// End ends the round: series that the previous round had and this one has not are
// marked stale.
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
	s.previous, s.current = kept, s.previous[:0]
	s.w.sweepIfDue(sweepInterval)
}

// Stale marks all series of the source stale at t: its round failed or came too late.
// Series with explicit timestamps are not marked, as in
// Prometheus; they end when they are older than the engine looks back.
func (s *Source) Stale(t int64) {
	s.t = t
	s.w.advance(t)
	for _, p := range s.previous {
		s.leave(p)
	}
	s.previous, s.current = nil, nil
	s.w.sweepIfDue(sweepInterval)
}

// Close ends all series of the source at t: it is given up, or another one has taken its
// place. Series with explicit timestamps are forgotten with their history, as a marker
// would keep out later samples that are older than it. Series that other sources export
// go on.
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

// leave notes that the source does not export p any more.
func (s *Source) leave(p *series) {
	if p.sources--; p.sources == 0 && !p.explicit {
		s.w.markStale(p, s.t)
	}
}

// Exports says whether the source's last round had a series with these labels.
func (s *Source) Exports(l labels.Labels) bool {
	found := s.w.find(l.Hash(), l)
	return found != nil && slices.Contains(s.previous, found)
}
