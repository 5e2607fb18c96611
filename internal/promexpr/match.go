package promexpr

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// CanMatch reports whether a series with such labels can satisfy the matchers, apart from
// those of the metric's name. values holds the labels with their possible values: nil for any
// value, and "" if a series may lack the label. open is set if a series may have other labels
// as well.
func CanMatch(matchers []*labels.Matcher, values map[string][]string, open bool) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
		of, known := values[m.Name]
		switch {
		case m.Name == model.MetricNameLabel, known && of == nil, !known && open:
			return false
		case !known:
			return !m.Matches("")
		}
		return !slices.ContainsFunc(of, m.Matches)
	})
}
