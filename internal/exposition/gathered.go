package exposition

import (
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// Gathered returns the counters, gauges and summaries of a registry as a batch.
func Gathered(gathered []*dto.MetricFamily) evaluator.Batch {
	var batch evaluator.Batch
	for _, mf := range gathered {
		kind := model.MetricType(strings.ToLower(mf.GetType().String()))
		batch.Descs = append(batch.Descs, collectors.Desc{Name: mf.GetName(), Help: mf.GetHelp(), Type: kind})
		for _, m := range mf.GetMetric() {
			batch.Samples = append(batch.Samples, samplesOf(mf.GetName(), m)...)
		}
	}
	return batch
}

func samplesOf(name string, m *dto.Metric) []collectors.Sample {
	sample := func(suffix string, v float64, pairs ...string) collectors.Sample {
		pairs = append(pairs, model.MetricNameLabel, name+suffix)
		for _, l := range m.GetLabel() {
			pairs = append(pairs, l.GetName(), l.GetValue())
		}
		return collectors.Sample{Labels: labels.FromStrings(pairs...), Value: v}
	}
	switch {
	case m.Counter != nil:
		return []collectors.Sample{sample("", m.GetCounter().GetValue())}
	case m.Gauge != nil:
		return []collectors.Sample{sample("", m.GetGauge().GetValue())}
	case m.Summary != nil:
		s := m.GetSummary()
		all := []collectors.Sample{sample("_sum", s.GetSampleSum()), sample("_count", float64(s.GetSampleCount()))}
		for _, q := range s.GetQuantile() {
			all = append(all, sample("", q.GetValue(), model.QuantileLabel, strconv.FormatFloat(q.GetQuantile(), 'g', -1, 64)))
		}
		return all
	}
	return nil
}
