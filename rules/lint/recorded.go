package lint

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// shapes computes the shapes of all recorded series.
func (p *pass) shapes() {
	p.named = map[string]shape{}
	p.untilStable(func(s *subject) bool {
		was := p.named[s.rule.Record]
		is := was.or(p.recordedBy(s))
		p.named[s.rule.Record] = is
		return !is.equal(was)
	})
	p.nodeShapes = map[parser.Expr]shape{}
}

// untilStable calls change for each recording rule, and again for the rules that use a name
// for which it reported a change. Recording rules may use each other and themselves, so
// results start empty and grow.
func (p *pass) untilStable(change func(*subject) bool) {
	users := map[string][]*subject{}
	var queue []*subject
	waiting := map[*subject]bool{}
	add := func(s *subject) {
		if !waiting[s] {
			queue, waiting[s] = append(queue, s), true
		}
	}
	for _, s := range p.subjects {
		if s.rule.Record == "" {
			continue
		}
		add(s)
		for _, n := range selectors(s.rule.AST) {
			users[promexpr.MetricName(n)] = append(users[promexpr.MetricName(n)], s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if waiting[s] = false; change(s) {
			for _, user := range users[s.rule.Record] {
				add(user)
			}
		}
	}
}

// recordedBy returns the shape of the series of a recording rule. Another Prometheus that
// federates them may add labels.
func (p *pass) recordedBy(s *subject) shape {
	if s.rule.AST == nil {
		return anything()
	}
	is := p.shape(s.rule.AST)
	for label, value := range s.rule.Labels {
		is = is.with(label, ofTexts([]string{value})) // "" removes a label
	}
	if is.some {
		is.rest = max(is.rest, addedOnly)
	}
	return is
}

// ofName returns the shape of all series of a name.
func (p *pass) ofName(name string) shape {
	if name == "" || p.opts.Vocabulary == nil {
		return anything()
	}
	exported, ok := p.series[name]
	if !ok {
		exported = exportedBy(p.metrics[name])
		p.series[name] = exported
	}
	found := exported.or(p.named[name])
	if !found.some && len(p.recorded[name]) == 0 {
		return anything()
	}
	return found
}

// exportedBy returns the shape of the series of metrics.
func exportedBy(metrics []Metric) shape {
	all := shape{some: len(metrics) > 0, rest: addedOnly, labels: map[string]domain{}}
	for i := range metrics {
		if metrics[i].AnyLabel {
			all.rest = anyOther
		}
		for label := range metrics[i].Labels {
			if _, ok := all.labels[label]; !ok {
				all.labels[label] = valuesOf(metrics, label)
			}
		}
	}
	return all
}

func valuesOf(metrics []Metric, label string) domain {
	all := []string{}
	for i := range metrics {
		switch values, ok := metrics[i].Labels[label]; {
		case !ok:
			all = append(all, "")
		case values == nil:
			return anyText()
		default:
			all = append(all, values...)
		}
	}
	return ofTexts(all)
}
