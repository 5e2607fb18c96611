package rulecheck

import (
	"maps"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/rules/lint"
)

// addForwarded adds the metrics of another Vitals that collectors forward. Another Vitals may
// have any configuration.
func addForwarded(v *lint.Vocabulary, all []kinds.Config) {
	var others []lint.Metric
	for i := range all {
		c := &all[i]
		key, kind := c.Kind()
		exporter, ok := kind.(collectors.Exporter)
		if !ok {
			continue
		}
		if others == nil {
			others = AnyVocabulary().Metrics
		}
		for _, m := range others {
			if !exporter.Forwards(m.Name) {
				continue
			}
			m.Collector, m.Kind, m.External, m.MayBeLocal = c.Name, key, kind.External(), false
			m.Interval, m.Vanishes = time.Duration(c.Interval), true
			m.Labels = forwardedLabels(m.Labels, exporter.PassedOn(c.Name))
			v.Metrics = append(v.Metrics, m)
		}
	}
}

// forwardedLabels returns the labels of a metric with those that are added. A label of the
// metric that is replaced becomes exported_LABEL, as in Prometheus.
func forwardedLabels(of, added map[string][]string) map[string][]string {
	all := maps.Clone(of)
	for label, values := range added {
		if own, ok := of[label]; ok && values != nil {
			all[model.ExportedLabelPrefix+label] = own
		}
		all[label] = values
	}
	return all
}
