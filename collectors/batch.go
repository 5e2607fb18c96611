package collectors

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Batch collects the samples of one collection. Its zero value is empty. It is not safe
// for concurrent use.
type Batch struct{ Samples []Sample }

// Set appends a sample of the metric. The values belong to the metric's labels, in the
// order of their declaration; without a value for the last labels, the series lacks them.
func (b *Batch) Set(d *Def, value float64, values ...string) {
	if len(values) > len(d.labels) {
		panic("internal error: more values than labels of " + d.name)
	}
	pairs := make([]string, 0, 2*len(values)+2)
	for i, v := range values {
		pairs = append(pairs, d.labels[i], v)
	}
	b.Samples = append(b.Samples, Sample{
		Labels: labels.FromStrings(append(pairs, model.MetricNameLabel, d.name)...),
		Value:  value,
	})
}

// Number returns 1 for true and 0 for false.
func Number(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}
