package collectors

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// batch collects the samples of one collection. Its zero value is empty. It is not safe
// for concurrent use.
type batch struct{ samples []Sample }

// set appends a sample of the metric. The values belong to the metric's labels, in the
// order of their declaration; without a value for the last labels, the series lacks them.
func (b *batch) set(d *Def, value float64, values ...string) {
	if len(values) > len(d.labels) {
		panic("internal error: more values than labels of " + d.name)
	}
	pairs := make([]string, 0, 2*len(values)+2)
	for i, v := range values {
		pairs = append(pairs, d.labels[i], v)
	}
	b.samples = append(b.samples, Sample{
		Labels: labels.FromStrings(append(pairs, model.MetricNameLabel, d.name)...),
		Value:  value,
	})
}

// number returns 1 for true and 0 for false.
func number(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}
