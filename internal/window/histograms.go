package window

import (
	"context"
	"math"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// Histograms are a window together with native histograms, all of which are kept. No
// collector measures those; they are for unit tests of rules. A series may have both
// floats and histograms, at different times.
type Histograms struct {
	w *Window
	// families are the series by their metric's name, in the order of their labels.
	families map[string][]*histogramSeries
}

type histogramSeries struct {
	labels labels.Labels
	points []promql.HPoint
}

// WithHistograms returns the window and no histogram yet.
func WithHistograms(w *Window) *Histograms {
	return &Histograms{w: w, families: map[string][]*histogramSeries{}}
}

// Add adds a histogram at t. Those of a series must come in the order of time.
//
// Its counter reset hint is set as in Prometheus' storage: not reset, or unknown for the
// first one and after a reset. Source: Prometheus, tsdb/chunkenc/histogram_meta.go, counterResetHint.
func (h *Histograms) Add(l labels.Labels, t int64, fh *histogram.FloatHistogram) {
	name := l.Get(model.MetricNameLabel)
	family := h.families[name]
	i, found := slices.BinarySearchFunc(family, l, func(s *histogramSeries, l labels.Labels) int { return labels.Compare(s.labels, l) })
	if !found {
		family = slices.Insert(family, i, &histogramSeries{labels: l})
		h.families[name] = family
	}
	s := family[i]
	fh = fh.Copy()
	if fh.CounterResetHint != histogram.GaugeType {
		goesOn := len(s.points) > 0 && !fh.DetectReset(s.points[len(s.points)-1].H) && !h.interrupted(s)
		fh.CounterResetHint = histogram.UnknownCounterReset
		if goesOn {
			fh.CounterResetHint = histogram.NotCounterReset
		}
	}
	s.points = append(s.points, promql.HPoint{T: t, H: fh})
}

// interrupted reports whether the series has had a float since its last histogram.
func (h *Histograms) interrupted(s *histogramSeries) bool {
	floats := h.w.find(s.labels.Hash(), s.labels)
	return floats != nil && floats.last().T > s.points[len(s.points)-1].T
}

// Querier implements storage.Queryable over both.
func (h *Histograms) Querier(mint, maxt int64) (storage.Querier, error) {
	floats, err := h.w.Querier(mint, maxt)
	if err != nil || len(h.families) == 0 {
		return floats, err
	}
	both := []storage.Querier{floats, &histogramQuerier{h: h, mint: mint, maxt: maxt}}
	return storage.NewMergeQuerier(both, nil, storage.ChainedSeriesMerge), nil
}

// Live is Window.Live over both.
func (h *Histograms) Live(matchers []*labels.Matcher, mint, maxt int64) bool {
	if len(h.families) == 0 {
		return h.w.Live(matchers, mint, maxt)
	}
	return h.any(matchers, mint, maxt, func(it chunkenc.Iterator) bool {
		live := false
		for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
			live = !isStale(it, kind)
		}
		return live
	})
}

// LiveRange is Window.LiveRange over both.
func (h *Histograms) LiveRange(matchers []*labels.Matcher, mint, maxt int64) bool {
	if len(h.families) == 0 {
		return h.w.LiveRange(matchers, mint, maxt)
	}
	return h.any(matchers, mint, maxt, func(it chunkenc.Iterator) bool {
		for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
			if !isStale(it, kind) {
				return true
			}
		}
		return false
	})
}

func isStale(it chunkenc.Iterator, kind chunkenc.ValueType) bool {
	if kind != chunkenc.ValFloat {
		return false
	}
	_, v := it.At()
	return value.IsStaleNaN(v)
}

// any reports whether ok holds for a series that matches, in (mint, maxt].
func (h *Histograms) any(matchers []*labels.Matcher, mint, maxt int64, ok func(chunkenc.Iterator) bool) bool {
	if mint == math.MaxInt64 {
		return false
	}
	q, err := h.Querier(mint+1, maxt)
	if err != nil {
		return false
	}
	set := q.Select(context.Background(), false, nil, matchers...)
	for set.Next() {
		if ok(set.At().Iterator(nil)) {
			return true
		}
	}
	return false
}
