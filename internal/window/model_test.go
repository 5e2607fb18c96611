package window_test

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// model is what a window should be, without any economy: it keeps all samples in a
// list, and every source's last batch in a map.
type model struct {
	series  map[string]*modelSeries
	sources []map[string]bool
}

type modelSeries struct {
	labels   labels.Labels
	points   []promql.FPoint
	explicit bool
}

func (m *model) add(l labels.Labels, p promql.FPoint, explicit bool) {
	s := m.series[l.String()]
	if s == nil {
		s = &modelSeries{labels: l}
		m.series[l.String()] = s
	}
	if n := len(s.points); n > 0 && p.T <= s.points[n-1].T {
		if explicit || p.T < s.points[n-1].T {
			return
		}
		s.points = s.points[:n-1]
	}
	s.points = append(s.points, p)
	s.explicit = explicit
}

// end replaces the last batch of a source, and marks series without a source stale.
func (m *model) end(source int, t int64, now map[string]bool) {
	before := m.sources[source]
	m.sources[source] = now
	for key := range before {
		exported := slices.ContainsFunc(m.sources, func(s map[string]bool) bool { return s[key] })
		if s := m.series[key]; !exported && !s.explicit {
			m.add(s.labels, promql.FPoint{T: t, F: math.Float64frombits(value.StaleNaN)}, false)
		}
	}
}

// close is like end without a batch, and removes series with explicit timestamps.
func (m *model) close(source int, t int64) {
	before := m.sources[source]
	m.end(source, t, nil)
	for key := range before {
		exported := slices.ContainsFunc(m.sources, func(s map[string]bool) bool { return s[key] })
		if s := m.series[key]; !exported && s.explicit {
			delete(m.series, key)
		}
	}
}

func (m *model) shift(d time.Duration) {
	for _, s := range m.series {
		for i := range s.points {
			s.points[i].T += d.Milliseconds()
		}
	}
}

func (m *model) Querier(mint, maxt int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var list []storage.Series
		for _, s := range m.series {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
				list = append(list, s.between(mint, maxt))
			}
		}
		slices.SortFunc(list, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
		return &modelSet{list: list}
	}}, nil
}

func (s *modelSeries) between(mint, maxt int64) storage.Series {
	var samples []chunks.Sample
	for _, p := range s.points {
		if p.T >= mint && p.T <= maxt {
			samples = append(samples, sample{p})
		}
	}
	return storage.NewListSeries(s.labels, samples)
}

type modelSet struct {
	list []storage.Series
	at   storage.Series
}

func (s *modelSet) Next() bool {
	if len(s.list) == 0 {
		return false
	}
	s.at, s.list = s.list[0], s.list[1:]
	return true
}

func (s *modelSet) At() storage.Series                { return s.at }
func (s *modelSet) Err() error                        { return nil }
func (s *modelSet) Warnings() annotations.Annotations { return nil }

// live returns the results expected of Live and LiveRange.
func (m *model) live(matchers []*labels.Matcher, mint, maxt int64) (instant, inRange bool) {
	for _, s := range m.series {
		if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
			continue
		}
		newest := false
		for _, p := range s.points {
			if p.T > mint && p.T <= maxt {
				newest = !value.IsStaleNaN(p.F)
				inRange = inRange || newest
			}
		}
		instant = instant || newest
	}
	return instant, inRange
}

// sample is a chunks.Sample of a float.
type sample struct{ point promql.FPoint }

func (s sample) T() int64                      { return s.point.T }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.point.F }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// retention returns exactly what SetRetention needs for an expression: for every
// selector its range and offset, its lookback where it has an offset or is in a
// subquery, and the ranges and offsets of the subqueries around it.
func retention(expr parser.Expr, lookback time.Duration) (perName map[string]time.Duration, rest time.Duration) {
	perName = map[string]time.Duration{}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		need, matrix := selector.OriginalOffset, time.Duration(0)
		for _, n := range path {
			switch n := n.(type) {
			case *parser.SubqueryExpr:
				need += n.Range + n.OriginalOffset
			case *parser.MatrixSelector:
				matrix = n.Range
			}
		}
		switch {
		case matrix > 0:
			need += matrix
		case need > 0:
			need += lookback
		}
		if selector.Name == "" {
			rest = max(rest, need)
		} else {
			perName[selector.Name] = max(perName[selector.Name], need)
		}
		return nil
	})
	for name := range perName {
		perName[name] = max(perName[name], rest)
	}
	return perName, rest
}

// instant evaluates an expression over a storage at t.
func instant(engine *promql.Engine, q storage.Queryable, expr string, t int64) (promql.Vector, error) {
	query, err := engine.NewInstantQuery(context.Background(), q, nil, expr, time.UnixMilli(t))
	if err != nil {
		return nil, err
	}
	defer query.Close()
	result := query.Exec(context.Background())
	vector, err := result.Vector()
	if err != nil {
		return nil, err
	}
	vector = slices.Clone(vector)
	slices.SortFunc(vector, func(a, b promql.Sample) int { return labels.Compare(a.Metric, b.Metric) })
	return vector, nil
}
