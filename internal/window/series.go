package window

import (
	"math"
	"slices"
	"sort"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"

	"github.com/vitals-health/vitals/internal/budget"
)

// family is all series of one metric name.
type family struct {
	name string
	// retention is in milliseconds.
	retention int64
	series    []*series
	sorted    bool
	// changed is the number of the last change, see Window.Changed.
	changed uint64
}

func (f *family) add(s *series) {
	s.index = len(f.series)
	f.series = append(f.series, s)
	f.sorted = len(f.series) == 1
}

// remove puts the last series in the place of s.
func (f *family) remove(s *series) {
	last := len(f.series) - 1
	f.series[s.index] = f.series[last]
	f.series[s.index].index = s.index
	f.series[last] = nil
	f.series = f.series[:last]
	f.sorted = f.sorted && s.index == last
}

func (f *family) sort() {
	if f.sorted {
		return
	}
	slices.SortFunc(f.series, func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
	for i, s := range f.series {
		s.index = i
	}
	f.sorted = true
}

// series is one series and its samples.
type series struct {
	labels labels.Labels
	family *family
	index  int // in the family
	hash   uint64
	next   *series // with the same hash

	// points are in the order of time. Without history there is one, kept in one.
	points []promql.FPoint
	one    [1]promql.FPoint

	// mark is set while a source compares two batches, see Source.End.
	mark uint64
	// sources is how many sources had the series in their last batch.
	sources int
	// owner is the source of Window.Owner that exports the series. It is nil if a source
	// that shares its series wrote last.
	owner *Source
	// account is that of the last source that wrote the series, which holds its bytes.
	account *budget.Account
	// slots is for how many samples memory is allocated, beyond one.
	slots int32
	// explicit is set if the last sample had an explicit timestamp.
	explicit bool
	// gone is set once the series was removed from the window.
	gone bool
}

const (
	// seriesBytes is what a series takes without its labels and history: the struct, and
	// its places in the maps, the family and two batches. BenchmarkSeries measures it.
	seriesBytes = 256
	// sampleBytes is what a sample of the history takes.
	sampleBytes = 16
)

// bytes returns an estimate of the memory that the series takes.
func (s *series) bytes() int64 { return bytesOf(s.labels) + sampleBytes*int64(s.slots) }

// bytesOf returns an estimate for a series without history.
func bytesOf(l labels.Labels) int64 { return seriesBytes + int64(l.ByteSize()) }

// need returns the bytes that another sample takes beyond those that are allocated.
func (s *series) need() int64 {
	if s.family.retention == 0 || len(s.points) < cap(s.points) {
		return 0
	}
	return sampleBytes * int64(slotsFor(len(s.points))-s.slots)
}

// firstBytes returns the bytes of the history of a series with one sample.
func firstBytes(retention int64) int64 {
	if retention == 0 {
		return 0
	}
	return sampleBytes * int64(slotsFor(0))
}

// slotsFor returns for how many samples memory is allocated when n are there: a quarter
// more than needed. An append then copies four samples on average.
func slotsFor(n int) int32 { return int32(n + n/4 + 4) }

func (s *series) last() promql.FPoint { return s.points[len(s.points)-1] }

// append adds a sample. An older one than the last is dropped; one of the same time
// replaces the last, or is dropped if the timestamp is explicit. It reports whether the
// last value has changed.
func (s *series) append(p promql.FPoint, now int64, explicit bool) (changed bool) {
	changed = true
	if n := len(s.points); n > 0 {
		last := s.points[n-1]
		changed = math.Float64bits(p.F) != math.Float64bits(last.F)
		switch {
		case p.T < last.T, p.T == last.T && explicit:
			return false
		case p.T == last.T:
			s.points[n-1] = p
			s.explicit = explicit
			return changed
		}
	}
	s.explicit = explicit
	if s.family.retention == 0 {
		s.one[0] = p
		s.points = s.one[:]
		return changed
	}
	if n := len(s.points); n == cap(s.points) {
		s.allocate(slotsFor(n))
	}
	s.points = append(s.points, p)
	s.prune(now)
	return changed
}

// prune drops the samples that the retention does not cover, except for the last one.
func (s *series) prune(now int64) {
	if s.family.retention == 0 {
		s.one[0] = s.last()
		s.points = s.one[:]
		s.account.Add(-sampleBytes * int64(s.slots))
		s.slots = 0
		return
	}
	cutoff := now - s.family.retention
	if s.points[0].T > cutoff {
		return
	}
	drop := min(after(s.points, cutoff), len(s.points)-1)
	s.points = s.points[drop:]
	if n := len(s.points); drop > n {
		s.allocate(int32(n)) // This releases the memory of the others.
	}
}

// allocate moves the history to new memory for as many samples.
func (s *series) allocate(slots int32) {
	s.points = append(make([]promql.FPoint, 0, slots), s.points...)
	s.account.Add(sampleBytes * int64(slots-s.slots))
	s.slots = slots
}

// expired reports whether no source exports the series and no query can find a sample of
// it.
func (s *series) expired(now, lookback int64) bool {
	if s.sources > 0 {
		return false
	}
	last := s.last()
	if value.IsStaleNaN(last.F) {
		return s.family.retention == 0 || last.T <= now-s.family.retention
	}
	return last.T <= now-max(s.family.retention, lookback)
}

// between returns the samples from mint to maxt, both included.
func (s *series) between(mint, maxt int64) []promql.FPoint {
	points := s.points
	if len(points) == 0 || s.last().T < mint {
		return nil
	}
	if s.last().T > maxt {
		points = points[:after(points, maxt)]
	}
	if len(points) > 0 && points[0].T < mint {
		points = points[after(points, mint-1):]
	}
	return points
}

// after returns the index of the first sample later than t.
func after(points []promql.FPoint, t int64) int {
	return sort.Search(len(points), func(i int) bool { return points[i].T > t })
}
