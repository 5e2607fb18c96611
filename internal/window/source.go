package window

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/vitals-health/vitals/internal/budget"
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
	// memory is what the source's series hold, also those that have ended. essential is that of
	// the series that are the first samples of a batch, as many as firsts.
	memory, essential *budget.Account
	firsts            int
}

// Source returns a new source that exports nothing yet.
func (w *Window) Source() *Source {
	return &Source{w: w, memory: w.memory.Account(), essential: w.memory.Account()}
}

// Owner returns a new source that shares no series. It gets those that no other source
// exports. A source that shares may take a series from it.
func (w *Window) Owner() *Source {
	return &Source{w: w, owns: true, memory: w.memory.Account(), essential: w.memory.Account()}
}

// Successor returns a new source that takes over series of s, which must write no more
// batches. Close s after the first batch of the successor.
func (s *Source) Successor() *Source {
	return &Source{w: s.w, owns: s.owns, before: s, memory: s.memory, essential: s.essential, firsts: s.firsts}
}

// Bytes returns an estimate of the memory that the source's series take, with their
// history and with those that have ended.
func (s *Source) Bytes() int64 { return s.memory.Used() + s.essential.Used() }

// Protect gives the first n samples of each later batch an account of their own: there is room
// for them although all others take what one account may.
func (s *Source) Protect(n int) { s.firsts = n }

// account returns the account of the next sample of the batch.
func (s *Source) account() *budget.Account {
	if len(s.current) < s.firsts {
		return s.essential
	}
	return s.memory
}

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
// wraps budget.ErrExceeded if there is no memory for a new series or for more history, and
// ErrOwned if the source shares no series and another one exports this series.
func (s *Source) Add(l labels.Labels, v float64, explicitT int64) error {
	p := promql.FPoint{T: s.t, F: v}
	if explicitT != 0 {
		p.T = explicitT
	}
	found := s.guess(l)
	if found == nil {
		hash := l.Hash()
		if found = s.w.find(hash, l); found == nil {
			retention := s.w.retention(l.Get(model.MetricNameLabel))
			if p.T <= s.w.now-max(retention, s.w.lookback) {
				return nil // No query could find it.
			}
			if err := s.grow(bytesOf(l), firstBytes(retention)); err != nil {
				return err
			}
			found = s.w.create(hash, l, s.account())
		}
	}
	if !s.own(found) {
		return ErrOwned
	}
	if err := s.room(found); err != nil {
		return err
	}
	if found.gone { // it had ended, and room removed it
		return s.Add(l, v, explicitT)
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

// room returns an error if there is no memory for another sample of x. The source then
// charges its own account for x.
func (s *Source) room(x *series) error {
	if len(x.points) == 0 {
		return nil // it is new
	}
	if account := s.account(); x.account != account {
		before := x.bytes()
		if err := s.grow(before, 0); err != nil {
			return err
		}
		if x.gone { // a sweep removed it
			account.Add(-before)
			return nil
		}
		after := x.bytes() // a sweep may have pruned it
		account.Add(after - before)
		x.account.Add(-after)
		x.account = account
	}
	if need := x.need(); need > 0 {
		return s.grow(0, need)
	}
	return nil
}

// grow charges the source's account for the bytes of a series if there is room for its
// history as well, which append counts. If need be, it sweeps.
func (s *Source) grow(series, history int64) error {
	account := s.account()
	err := account.Grow(series + history)
	if err != nil && s.w.now > s.w.swept {
		s.w.sweep()
		err = account.Grow(series + history)
	}
	if err == nil {
		account.Add(-history)
	}
	return err
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

// Abort takes back the batch in place of End: series that only this batch had are removed,
// and all others of the source are marked stale.
func (s *Source) Abort() {
	for _, c := range s.current {
		if !c.gone && c.sources == 0 && len(c.points) == 1 {
			s.w.remove(c)
		}
	}
	for _, c := range s.current {
		if !c.gone && c.sources == 0 && !c.explicit {
			s.w.markStale(c, s.t)
		}
	}
	s.Stale(s.t)
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
