package collectorcheck

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint"
)

// Unmatched is a selector that matched no series of the measurement.
type Unmatched struct {
	Selector string `json:"selector"`
	// Rules are the rules with this selector, as in Metric.
	Rules []string `json:"rules"`
	// Label is the only label that excludes series of the metric, and Measured has its values;
	// empty if there is no such label.
	Label    string   `json:"label,omitempty"`
	Measured []string `json:"measured,omitempty"`
	// MayBeAbsent is set if a collector exports such series, and not in each collection.
	MayBeAbsent bool `json:"may_be_absent"`
}

// addUnmatched adds the selectors without a series. It leaves out what a failed collector may
// export, what no collection measures, and metrics of other programs that were not measured at all.
func (r *Report) addUnmatched(users []user, metrics []lint.Metric) {
	measured, failed, recorded := map[string][]labels.Labels{}, map[string]bool{}, map[string]bool{}
	for _, c := range r.Collectors {
		failed[c.Name] = !c.Success
		for _, m := range c.Metrics {
			for _, s := range m.Series {
				measured[m.Name] = append(measured[m.Name], labels.FromMap(s.Labels))
			}
		}
	}
	for _, u := range users {
		recorded[u.rule] = true
	}
	for _, u := range users {
		name := promexpr.MetricName(u.selector)
		if u.matched || u.optional || name == "" || recorded[name] || measured[name] == nil && !strings.HasPrefix(name, "vitals_") {
			continue
		}
		sources := slices.DeleteFunc(slices.Clone(metrics), func(m lint.Metric) bool { return m.Name != name || !m.Matches(u.selector.LabelMatchers) })
		ownOrFailed := func(m lint.Metric) bool { return m.Collector == "" || failed[m.Collector] }
		if slices.ContainsFunc(sources, ownOrFailed) {
			continue
		}
		shown := u.selector.String()
		if i := slices.IndexFunc(r.Unmatched, func(o Unmatched) bool { return o.Selector == shown }); i >= 0 {
			r.Unmatched[i].Rules = append(r.Unmatched[i].Rules, u.rule)
			continue
		}
		label, values := excluding(u.selector.LabelMatchers, measured[name])
		r.Unmatched = append(r.Unmatched, Unmatched{
			Selector: shown, Rules: []string{u.rule}, Label: label, Measured: values,
			MayBeAbsent: slices.ContainsFunc(sources, func(m lint.Metric) bool { return m.Vanishes }),
		})
	}
}

// excluding returns the label whose matcher excludes series that all other matchers accept, and its
// values in these series.
func excluding(matchers []*labels.Matcher, series []labels.Labels) (label string, values []string) {
	for _, excludes := range matchers {
		found := map[string]bool{}
		for _, s := range series {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
				return m != excludes && m.Name != model.MetricNameLabel && !m.Matches(s.Get(m.Name))
			}) {
				found[cmp.Or(s.Get(excludes.Name), "none")] = true
			}
		}
		if len(found) > 0 {
			return excludes.Name, slices.Sorted(maps.Keys(found))
		}
	}
	return "", nil
}

// optional reports whether an expression may have a result without a series of the selector at the
// end of the path: the selector is about absence, or on the right of "or" or "unless".
func optional(path []parser.Node) bool {
	for i, n := range path[:len(path)-1] {
		switch n := n.(type) {
		case *parser.Call:
			if strings.HasPrefix(n.Func.Name, "absent") {
				return true
			}
		case *parser.BinaryExpr:
			if (n.Op == parser.LOR || n.Op == parser.LUNLESS) && path[i+1] == parser.Node(n.RHS) {
				return true
			}
		}
	}
	return false
}
