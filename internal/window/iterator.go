package window

import (
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// view is the part of a series that a query selected: it shares the window's samples.
type view struct {
	labels labels.Labels
	points []promql.FPoint
}

// Labels implements storage.Series.
func (v *view) Labels() labels.Labels { return v.labels }

// Iterator implements storage.Series.
func (v *view) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	it, ok := reuse.(*iterator)
	if !ok {
		it = &iterator{}
	}
	*it = iterator{points: v.points, at: -1}
	return it
}

// seriesSet implements storage.SeriesSet.
type seriesSet struct {
	series []view
	at     int
}

func (s *seriesSet) Next() bool {
	s.at++
	return s.at < len(s.series)
}

func (s *seriesSet) At() storage.Series                { return &s.series[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// milliseconds has a name so that vet does not take Seek for that of io.Seeker.
type milliseconds = int64

// iterator implements chunkenc.Iterator over floats.
type iterator struct {
	points []promql.FPoint
	at     int // -1 before the first sample
}

func (it *iterator) valueType() chunkenc.ValueType {
	if it.at < len(it.points) {
		return chunkenc.ValFloat
	}
	return chunkenc.ValNone
}

func (it *iterator) Next() chunkenc.ValueType {
	if it.at < len(it.points) {
		it.at++
	}
	return it.valueType()
}

func (it *iterator) Seek(t milliseconds) chunkenc.ValueType {
	it.at = max(it.at, 0)
	if it.at < len(it.points) && it.points[it.at].T < t {
		it.at += after(it.points[it.at:], t-1)
	}
	return it.valueType()
}

func (it *iterator) At() (int64, float64) {
	p := it.points[it.at]
	return p.T, p.F
}

func (it *iterator) AtT() int64 { return it.points[it.at].T }

// AtST returns 0: the window stores no start timestamps.
func (it *iterator) AtST() int64 { return 0 }

func (it *iterator) Err() error { return nil }

// AtHistogram is never called, as Next and Seek announce floats only.
func (it *iterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) {
	return 0, nil
}

// AtFloatHistogram is never called, as Next and Seek announce floats only.
func (it *iterator) AtFloatHistogram(*histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	return 0, nil
}
