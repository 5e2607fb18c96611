package lint

import (
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Vocabulary is what selectors can match.
type Vocabulary struct {
	// Configured says that it is the one of a configuration: what it lacks, nobody
	// exports. Otherwise it is what the kinds of collectors can export.
	Configured bool
	// Metrics has an entry for each collector and metric.
	Metrics []Metric
	// Kinds are the metrics that the kinds of collectors can export of which none is
	// configured, so that a name that is missing can be explained.
	Kinds []Metric
	// Others are the collectors that pass on what somebody else exports, under names
	// that nobody knows beforehand; those do not begin with "vitals_".
	Others []Metric
}

// Metric is one metric as one collector exports it.
type Metric struct {
	// Name is empty in Vocabulary.Others.
	Name string
	Type model.MetricType
	// Labels are the labels that its series have. The values are those that can occur,
	// among them "" where a series may lack the label; nil allows any.
	Labels map[string][]string
	// Collector is the name of the collector and Kind its kind. The collector is empty
	// for what Vitals says of itself, and where there is no configuration.
	Collector, Kind string
	// External says that what is measured lies outside the host.
	External bool
	// MayBeLocal says that it depends on the collector's target, which is not known,
	// whether it lies outside the host.
	MayBeLocal bool
	// Interval is the time between two rounds; zero where it is not known, or where
	// reports arrive by themselves.
	Interval time.Duration
	// Vanishes says that series may be absent although the collector does its work.
	Vanishes bool
	// Bool says that the value is always 0 or 1.
	Bool bool
}

// matches says whether a series of the metric can have labels that the matchers want.
func (m *Metric) matches(matchers []*labels.Matcher) bool {
	for _, want := range matchers {
		if want.Name == model.MetricNameLabel {
			if m.Name != "" && !want.Matches(m.Name) {
				return false
			}
			continue
		}
		values, known := m.Labels[want.Name]
		switch {
		case m.Name == "" && !known: // somebody else's labels
		case !known:
			if !want.Matches("") {
				return false
			}
		case values != nil && !anyMatches(want, values):
			return false
		}
	}
	return true
}

func anyMatches(m *labels.Matcher, values []string) bool {
	for _, v := range values {
		if m.Matches(v) {
			return true
		}
	}
	return false
}

// sources are the metrics of the vocabulary that a selector can match by itself, without
// recording rules. Those of Others count only where the name is nobody's of ours.
func (p *pass) sources(s *parser.VectorSelector) []Metric {
	if p.opts.Vocabulary == nil {
		return nil
	}
	var found []Metric
	for _, m := range p.opts.Vocabulary.Metrics {
		if m.matches(s.LabelMatchers) {
			found = append(found, m)
		}
	}
	if name := metricName(s); len(found) == 0 && !own(name) && !ofAlerts(name) && len(p.recorded[name]) == 0 {
		for _, m := range p.opts.Vocabulary.Others {
			if m.matches(s.LabelMatchers) {
				found = append(found, m)
			}
		}
	}
	return found
}

// own says whether a name is one that only Vitals may give.
func own(name string) bool { return len(name) > 7 && name[:7] == "vitals_" }

// ofAlerts says whether a name is that of the series of active alerts, which Vitals and
// Prometheus write themselves.
func ofAlerts(name string) bool { return name == "ALERTS" || name == "ALERTS_FOR_STATE" }

// metricName returns the one name that a selector can match, or "".
func metricName(s *parser.VectorSelector) string {
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}
