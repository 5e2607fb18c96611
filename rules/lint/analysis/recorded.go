package analysis

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/shapes"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// shapes computes the shapes of all recorded series.
func (a *Analysis) shapes() {
	a.named = map[string]shapes.Shape{}
	a.UntilStable(func(s *Subject) bool {
		was := a.named[s.Rule.Record]
		is := was.Or(a.recordedBy(s))
		a.named[s.Rule.Record] = is
		return !is.Equal(was)
	})
	a.nodeShapes = map[parser.Expr]shapes.Shape{}
}

// UntilStable calls change for each recording rule, and again for the rules that use a name
// for which it reported a change. Recording rules may use each other and themselves, so
// results start empty and grow.
func (a *Analysis) UntilStable(change func(*Subject) bool) {
	users := map[string][]*Subject{}
	var queue []*Subject
	waiting := map[*Subject]bool{}
	add := func(s *Subject) {
		if !waiting[s] {
			queue, waiting[s] = append(queue, s), true
		}
	}
	for _, s := range a.Subjects {
		if s.Rule.Record == "" {
			continue
		}
		add(s)
		for _, n := range syntax.Selectors(s.Rule.AST) {
			users[promexpr.MetricName(n)] = append(users[promexpr.MetricName(n)], s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if waiting[s] = false; change(s) {
			for _, user := range users[s.Rule.Record] {
				add(user)
			}
		}
	}
}

// recordedBy returns the shape of the series of a recording rule. Another Prometheus that
// federates them may add labels.
func (a *Analysis) recordedBy(s *Subject) shapes.Shape {
	if s.Rule.AST == nil {
		return shapes.Anything()
	}
	is := a.Shape(s.Rule.AST)
	for label, value := range s.Rule.Labels {
		is = is.With(label, shapes.OfTexts([]string{value})) // "" removes a label
	}
	if is.Some {
		is.Rest = max(is.Rest, shapes.AddedOnly)
	}
	return is
}

// SeriesOf returns the shape of all series of a name.
func (a *Analysis) SeriesOf(name string) shapes.Shape {
	if name == "" || a.vocabulary == nil {
		return shapes.Anything()
	}
	exported, ok := a.series[name]
	if !ok {
		exported = SeriesOfMetrics(a.metrics[name])
		a.series[name] = exported
	}
	found := exported.Or(a.named[name])
	if !found.Some && len(a.Recorded[name]) == 0 {
		return shapes.Anything()
	}
	return found
}

// SeriesOfMetrics returns the shape of the series of metrics.
func SeriesOfMetrics(metrics []Metric) shapes.Shape {
	all := shapes.Shape{Some: len(metrics) > 0, Rest: shapes.AddedOnly, Labels: map[string]shapes.Domain{}}
	for i := range metrics {
		if metrics[i].AnyLabel {
			all.Rest = shapes.AnyOther
		}
		for label := range metrics[i].Labels {
			if _, ok := all.Labels[label]; !ok {
				all.Labels[label] = valuesOf(metrics, label)
			}
		}
	}
	return all
}

func valuesOf(metrics []Metric, label string) shapes.Domain {
	all := []string{}
	for i := range metrics {
		switch values, ok := metrics[i].Labels[label]; {
		case !ok:
			all = append(all, "")
		case values == nil:
			return shapes.AnyText()
		default:
			all = append(all, values...)
		}
	}
	return shapes.OfTexts(all)
}
