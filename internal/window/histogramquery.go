package window

import (
	"context"
	"slices"
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// histogramQuerier implements storage.Querier over the histograms alone.
type histogramQuerier struct {
	h          *Histograms
	mint, maxt int64
}

// Close does nothing.
func (q *histogramQuerier) Close() error { return nil }

// Select implements storage.Querier. Of the hints it uses the times only.
func (q *histogramQuerier) Select(_ context.Context, _ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	mint, maxt := q.mint, q.maxt
	if hints != nil {
		mint, maxt = max(mint, hints.Start), min(maxt, hints.End)
	}
	set := &histogramSet{at: -1}
	q.visit(matchers, func(s *histogramSeries) {
		from := sort.Search(len(s.points), func(i int) bool { return s.points[i].T >= mint })
		to := sort.Search(len(s.points), func(i int) bool { return s.points[i].T > maxt })
		if from < to {
			set.series = append(set.series, histogramSeries{s.labels, s.points[from:to]})
		}
	})
	return set
}

// visit visits the series that match, in the order of their labels.
func (q *histogramQuerier) visit(matchers []*labels.Matcher, visit func(*histogramSeries)) {
	var all []*histogramSeries
	for _, family := range q.h.families {
		for _, s := range family {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b *histogramSeries) int { return labels.Compare(a.labels, b.labels) })
	for _, s := range all {
		visit(s)
	}
}

// LabelValues implements storage.LabelQuerier.
func (q *histogramQuerier) LabelValues(_ context.Context, name string, hints *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	values := map[string]struct{}{}
	q.visit(matchers, func(s *histogramSeries) {
		if v := s.labels.Get(name); v != "" {
			values[v] = struct{}{}
		}
	})
	return limited(values, hints), nil, nil
}

// LabelNames implements storage.LabelQuerier.
func (q *histogramQuerier) LabelNames(_ context.Context, hints *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	names := map[string]struct{}{}
	q.visit(matchers, func(s *histogramSeries) {
		s.labels.Range(func(l labels.Label) { names[l.Name] = struct{}{} })
	})
	return limited(names, hints), nil, nil
}

// histogramSet implements storage.SeriesSet.
type histogramSet struct {
	series []histogramSeries
	at     int
}

func (s *histogramSet) Next() bool {
	s.at++
	return s.at < len(s.series)
}

func (s *histogramSet) At() storage.Series                { return &s.series[s.at] }
func (s *histogramSet) Err() error                        { return nil }
func (s *histogramSet) Warnings() annotations.Annotations { return nil }

// Labels implements storage.Series.
func (s *histogramSeries) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *histogramSeries) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	return &histogramIterator{points: s.points, at: -1}
}

// histogramIterator implements chunkenc.Iterator over histograms of floats.
type histogramIterator struct {
	points []promql.HPoint
	at     int // -1 before the first sample
}

func (it *histogramIterator) valueType() chunkenc.ValueType {
	if it.at < len(it.points) {
		return chunkenc.ValFloatHistogram
	}
	return chunkenc.ValNone
}

func (it *histogramIterator) Next() chunkenc.ValueType {
	if it.at < len(it.points) {
		it.at++
	}
	return it.valueType()
}

func (it *histogramIterator) Seek(t milliseconds) chunkenc.ValueType {
	it.at = max(it.at, 0)
	for it.at < len(it.points) && it.points[it.at].T < t {
		it.at++
	}
	return it.valueType()
}

// At is never called, as Next and Seek announce histograms only.
func (it *histogramIterator) At() (int64, float64) { return 0, 0 }

// AtHistogram is never called, as Next and Seek announce histograms of floats only.
func (it *histogramIterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) {
	return 0, nil
}

// AtFloatHistogram returns a copy, because queries change it.
func (it *histogramIterator) AtFloatHistogram(into *histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	p := it.points[it.at]
	if into == nil {
		return p.T, p.H.Copy()
	}
	p.H.CopyTo(into)
	return p.T, into
}

func (it *histogramIterator) AtT() int64 { return it.points[it.at].T }

// AtST returns 0: start timestamps are not stored.
func (it *histogramIterator) AtST() int64 { return 0 }

func (it *histogramIterator) Err() error { return nil }
