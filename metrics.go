package vitals

import (
	"bytes"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Describe implements prometheus.Collector. It sends nothing: which metrics there are depends on the
// configuration, and may change.
func (v *Evaluator) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. It sends the metrics of the current snapshot, as /metrics
// of Handler has them. Those of the process are left to the program's own registry.
func (v *Evaluator) Collect(metrics chan<- prometheus.Metric) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(v.server.SnapshotMetrics()))
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
		return
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			metrics <- metric{descOf(f, m), m}
		}
	}
}

// metric is a metric of a snapshot.
type metric struct {
	desc *prometheus.Desc
	dto  *dto.Metric
}

// descOf describes one metric of a family.
func descOf(f *dto.MetricFamily, m *dto.Metric) *prometheus.Desc {
	labels := make([]string, 0, len(m.GetLabel()))
	for _, pair := range m.GetLabel() {
		labels = append(labels, pair.GetName())
	}
	return prometheus.NewDesc(f.GetName(), f.GetHelp(), labels, nil)
}

// Desc implements prometheus.Metric.
func (m metric) Desc() *prometheus.Desc { return m.desc }

// Write implements prometheus.Metric.
func (m metric) Write(to *dto.Metric) error {
	to.Label, to.TimestampMs = m.dto.Label, m.dto.TimestampMs
	to.Gauge, to.Counter, to.Untyped = m.dto.Gauge, m.dto.Counter, m.dto.Untyped
	to.Summary, to.Histogram = m.dto.Summary, m.dto.Histogram
	return nil
}
