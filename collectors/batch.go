package collectors

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Batch holds the samples of one collection. Its zero value is empty. It is not safe for
// concurrent use.
type Batch struct{ Samples []Sample }

// Set appends a sample of the metric. The values are those of the metric's labels, in the
// order of the declaration. With fewer values than labels, the series lacks the last labels;
// with more, Set panics.
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
