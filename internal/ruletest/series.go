package ruletest

import (
	"sort"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// series is an input series and its samples in the order of time.
type series struct {
	labels  labels.Labels
	samples []point
}

// point is a sample, at a time in milliseconds since the epoch.
type point struct {
	t int64
	v float64
	// h is a native histogram instead of v; nil for a float.
	h *histogram.FloatHistogram
}

// series parses the notation of input series, whose values begin at start with an interval.
func (r *reader) series(path string, raw []rawSeries, start time.Time, interval time.Duration) []series {
	var all []series
	given := map[string]int{} // by labels
	for i, in := range raw {
		at := strictyaml.PathIndex(path, i)
		if strings.Contains(strings.TrimSpace(in.Series+" "+in.Values), "\n") {
			r.fail(at+".values", "line break in a series, expected one line: promtool ignores the rest (long values fold with >-)")
			continue
		}
		ls, points, err := r.promql.ParseSeriesDesc(in.Series + " " + in.Values)
		if err != nil {
			border := len(in.Series) + 1
			r.syntax(err, func(offset int) string {
				if offset < border && in.Series != "" {
					return at + ".series"
				}
				return at + ".values"
			}, func(offset int) int {
				if offset < border {
					return offset
				}
				return offset - border
			})
			continue
		}
		s := series{labels: ls}
		for n, v := range points {
			if !v.Omitted {
				s.samples = append(s.samples, point{start.Add(time.Duration(n) * interval).UnixMilli(), v.Value, v.Histogram})
			}
		}
		if j, ok := given[ls.String()]; ok {
			r.warn(at, "series %s is given twice: the last one counts", ls)
			all[j] = s
			continue
		}
		given[ls.String()] = len(all)
		all = append(all, s)
	}
	return all
}

// until removes the samples before t and returns them.
func (s *series) until(t int64) []point {
	n := sort.Search(len(s.samples), func(i int) bool { return s.samples[i].t >= t })
	taken := s.samples[:n]
	s.samples = s.samples[n:]
	return taken
}
