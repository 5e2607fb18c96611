package window

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// Querier returns a view of the samples from mint to maxt, both included. It
// implements storage.Queryable and never fails.
func (w *Window) Querier(mint, maxt int64) (storage.Querier, error) {
	return &querier{w: w, mint: mint, maxt: maxt}, nil
}

// Live reports whether an instant selector with these matchers finds anything: whether
// there is a series whose newest sample in (mint, maxt] is not a stale marker.
func (w *Window) Live(matchers []*labels.Matcher, mint, maxt int64) bool {
	return w.any(matchers, mint, maxt, func(points []promql.FPoint) bool {
		return !value.IsStaleNaN(points[len(points)-1].F)
	})
}

// LiveRange reports whether a range selector with these matchers finds anything:
// whether there is any sample in (mint, maxt] that is not a stale marker.
func (w *Window) LiveRange(matchers []*labels.Matcher, mint, maxt int64) bool {
	return w.any(matchers, mint, maxt, func(points []promql.FPoint) bool {
		return slices.ContainsFunc(points, func(p promql.FPoint) bool { return !value.IsStaleNaN(p.F) })
	})
}

// Newest returns the time of the newest sample in (mint, maxt] of the series with these
// labels.
func (w *Window) Newest(l labels.Labels, mint, maxt int64) (t int64, ok bool) {
	s := w.find(l.Hash(), l)
	if s == nil {
		return 0, false
	}
	points := s.between(mint+1, maxt)
	if len(points) == 0 {
		return 0, false
	}
	return points[len(points)-1].T, true
}

// any reports whether ok holds for a series that matches and has samples in (mint, maxt].
func (w *Window) any(matchers []*labels.Matcher, mint, maxt int64, ok func([]promql.FPoint) bool) bool {
	if mint == math.MaxInt64 {
		return false
	}
	for f := range w.matching(matchers) {
		for _, s := range f.series {
			if points := s.between(mint+1, maxt); len(points) > 0 && s.matches(matchers) && ok(points) {
				return true
			}
		}
	}
	return false
}

// matching visits the families that can contain series that match.
func (w *Window) matching(matchers []*labels.Matcher) func(yield func(*family) bool) {
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return func(yield func(*family) bool) {
				if f := w.families[m.Value]; f != nil {
					yield(f)
				}
			}
		}
	}
	return func(yield func(*family) bool) {
		for name, f := range w.families {
			if matchesName(name, matchers) && !yield(f) {
				return
			}
		}
	}
}

func matchesName(name string, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel && !m.Matches(name) {
			return false
		}
	}
	return true
}

// matches reports whether the series matches; matching selects by the name only.
func (s *series) matches(matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		v := s.family.name
		if m.Name != model.MetricNameLabel {
			v = s.labels.Get(m.Name)
		}
		if !m.Matches(v) {
			return false
		}
	}
	return true
}

type querier struct {
	w          *Window
	mint, maxt int64
}

// Close does nothing.
func (q *querier) Close() error { return nil }

// Select implements storage.Querier. Of the hints it uses the times only.
func (q *querier) Select(_ context.Context, sortSeries bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	mint, maxt := q.mint, q.maxt
	if hints != nil {
		mint, maxt = max(mint, hints.Start), min(maxt, hints.End)
	}
	set := &seriesSet{at: -1}
	families := 0
	for f := range q.w.matching(matchers) {
		families++
		if sortSeries {
			f.sort()
		}
		for _, s := range f.series {
			if points := s.between(mint, maxt); len(points) > 0 && s.matches(matchers) {
				set.series = append(set.series, view{s.labels, points})
			}
		}
	}
	if sortSeries && families > 1 {
		slices.SortFunc(set.series, func(a, b view) int { return labels.Compare(a.labels, b.labels) })
	}
	return set
}

// LabelValues implements storage.LabelQuerier.
func (q *querier) LabelValues(_ context.Context, name string, hints *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	values := map[string]struct{}{}
	q.visit(matchers, func(l labels.Labels) {
		if v := l.Get(name); v != "" {
			values[v] = struct{}{}
		}
	})
	return limited(values, hints), nil, nil
}

// LabelNames implements storage.LabelQuerier.
func (q *querier) LabelNames(_ context.Context, hints *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	names := map[string]struct{}{}
	q.visit(matchers, func(l labels.Labels) {
		l.Range(func(l labels.Label) { names[l.Name] = struct{}{} })
	})
	return limited(names, hints), nil, nil
}

func (q *querier) visit(matchers []*labels.Matcher, visit func(labels.Labels)) {
	for f := range q.w.matching(matchers) {
		for _, s := range f.series {
			if len(s.between(q.mint, q.maxt)) > 0 && s.matches(matchers) {
				visit(s.labels)
			}
		}
	}
}

// limited returns the set in order, at most the limit of hints.
func limited(set map[string]struct{}, hints *storage.LabelHints) []string {
	list := slices.Sorted(maps.Keys(set))
	if hints != nil && hints.Limit > 0 && len(list) > hints.Limit {
		list = list[:hints.Limit]
	}
	return list
}
