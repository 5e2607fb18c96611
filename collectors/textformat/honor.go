package textformat

import (
	"bytes"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

const componentLabel = "component"

// Keeps reports whether samples of a metric are kept.
func (o *Options) Keeps(metric string) bool { return o.useOf([]byte(metric)) == kept }

// use is what becomes of the samples of a metric.
type use int

const (
	kept use = iota
	// ignored: keep does not match the name.
	ignored
	// reserved: only Vitals may export the name.
	reserved
)

// useOf returns what becomes of a metric.
func (o *Options) useOf(name []byte) use {
	switch {
	case o.Keep != nil && !o.Keep.Match(name):
		return ignored
	case !o.HonorVitals && isOfVitals(name):
		return reserved
	}
	return kept
}

// isOfVitals reports whether a name begins with "vitals_", also after /metrics has replaced
// the characters that older names cannot contain by underscores, as those of "vitals.state".
func isOfVitals(name []byte) bool {
	rest, ok := bytes.CutPrefix(name, []byte("vitals"))
	if !ok || len(rest) == 0 {
		return false
	}
	c := rest[0]
	return c != ':' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}

// useOfSeries returns what becomes of a series. The samples of a metric follow each other,
// so the last result is cached.
func (r *reading) useOfSeries(text []byte) use {
	if r.Keep == nil && r.HonorVitals {
		return kept
	}
	if name := r.metricName(text); r.name == nil || !bytes.Equal(name, r.name) {
		r.name, r.use = name, r.useOf(name)
	}
	return r.use
}

// metricName returns the name in the text of the current series.
func (r *reading) metricName(text []byte) []byte {
	end := bytes.IndexAny(text, "{ \t")
	switch {
	case end < 0:
		return text
	case end > 0:
		return text[:end]
	}
	// The name is quoted, inside the braces.
	var written labels.Labels
	r.text.Labels(&written)
	return []byte(written.Get(model.MetricNameLabel))
}

// isReserved reports whether a series has a name and component of this collector's
// metrics.
func (r *reading) isReserved(set labels.Labels) bool {
	return r.Own != "" && strings.HasPrefix(set.Get(model.MetricNameLabel), r.Own) && set.Get(componentLabel) == r.Component
}

// exportedLabel returns the name to which Prometheus renames a target's label component.
func exportedLabel(written labels.Labels) string {
	name := model.ExportedLabelPrefix + componentLabel
	for written.Has(name) {
		name = model.ExportedLabelPrefix + name
	}
	return name
}
