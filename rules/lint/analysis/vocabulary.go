package analysis

import (
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Vocabulary describes the series that selectors can match.
type Vocabulary struct {
	// Configured is set if the vocabulary describes a configuration: a metric that it lacks
	// is not exported. Otherwise it describes what all kinds of collectors can export.
	Configured bool
	// Metrics has an entry for each metric of each collector.
	Metrics []Metric
	// Kinds are the metrics of kinds that are not configured, so that a finding can name
	// the kind.
	Kinds []Metric
	// Others are the collectors that export metrics of other programs, whose names are not
	// known in advance. They do not begin with "vitals_".
	Others []Metric
}

// Metric is one metric of one collector.
type Metric struct {
	// Name is empty in Vocabulary.Others.
	Name string
	Type model.MetricType
	// Labels holds the labels of its series with their possible values: "" if a series may
	// lack the label; nil for any value.
	Labels map[string][]string
	// AnyLabel is set if its series may have labels that Labels does not have.
	AnyLabel bool
	// Collector is the name of the collector, and Kind its kind. The collector is empty for
	// metrics about Vitals itself, and without a configuration.
	Collector, Kind string
	// External is set if the metric describes something outside the host.
	External bool
	// MayBeLocal is set if the collector's target is unknown and may be on the host.
	MayBeLocal bool
	// Interval is the time between two collections; zero if it is unknown or if reports are
	// pushed.
	Interval time.Duration
	// Vanishes is set if series may be absent while the collector works.
	Vanishes bool
	// Bool is set if the value is always 0 or 1.
	Bool bool
}

// Matches reports whether a series of the metric can satisfy the matchers.
func (m *Metric) Matches(matchers []*labels.Matcher) bool {
	named := m.Name == "" || !slices.ContainsFunc(matchers, func(want *labels.Matcher) bool {
		return want.Name == model.MetricNameLabel && !want.Matches(m.Name)
	})
	return named && promexpr.CanMatch(matchers, m.Labels, m.Name == "" || m.AnyLabel) // without a name: of another program
}

// Exporters returns the kinds of collectors that export a metric.
func Exporters(metrics []Metric, name string) []string {
	var kinds []string
	for _, m := range metrics {
		if m.Name == name {
			kinds = append(kinds, m.Kind)
		}
	}
	return kinds
}

// Own reports whether only Vitals may export the name.
func Own(name string) bool { return len(name) > 7 && name[:7] == "vitals_" }

// OfAlerts reports whether a name is one of the series that Vitals and Prometheus write for
// active alerts.
func OfAlerts(name string) bool { return name == "ALERTS" || name == "ALERTS_FOR_STATE" }
