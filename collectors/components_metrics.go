package collectors

import "github.com/prometheus/common/model"

// componentsDescs are the metrics of the kind components.
func componentsDescs() []Desc {
	return append([]Desc{
		{"vitals_component_expected", "Whether the configuration expects the component to report; always 1.", model.MetricTypeGauge},
		{"vitals_component_reported", "Whether the component has ever reported (1) or not (0).", model.MetricTypeGauge},
		{"vitals_component_alive", "Whether the component is alive (1) or not (0); absent while nothing is known.", model.MetricTypeGauge},
		{"vitals_component_ready", "Whether the component is ready (1) or not (0); absent while nothing is known.", model.MetricTypeGauge},
		{"vitals_component_last_report_timestamp_seconds", "When the component last reported, in seconds since the epoch.", model.MetricTypeGauge},
		{"vitals_component_reports_total", "How many reports of the component were taken.", model.MetricTypeCounter},
		{"vitals_component_invalid_reports_total", "How many datagrams of the component were not or not wholly understood.", model.MetricTypeCounter},
	}, eventDescs()...)
}

// Metrics implements Kind. The collector's own name is in none of its labels.
func (c *ComponentsConfig) Metrics(name string) []Metric {
	m := newCatalog(componentsDescs(), "", name)
	known := c.names()
	ofEach := []string{
		"vitals_component_reported", "vitals_component_alive", "vitals_component_ready",
		"vitals_component_last_report_timestamp_seconds", "vitals_component_reports_total",
		"vitals_component_invalid_reports_total", "vitals_component_events_total", "vitals_component_event_errors_total",
		"vitals_component_consecutive_failures", "vitals_component_last_failure_timestamp_seconds",
	}
	m.configured("component", known, "vitals_component_expected")
	if c.acceptsAny() && !m.any { // a component is there once it has reported
		m.open("component", nil, ofEach...)
		m.vanishing("vitals_component_reported", "vitals_component_reports_total", "vitals_component_invalid_reports_total")
	} else {
		m.configured("component", known, ofEach...)
	}
	m.vanishing("vitals_component_alive", "vitals_component_ready", "vitals_component_last_report_timestamp_seconds")
	m.bools("vitals_component_expected", "vitals_component_reported", "vitals_component_alive", "vitals_component_ready")
	c.eventMetrics(m)
	return m.list()
}

// eventMetrics adds what is known of the events.
func (c *ComponentsConfig) eventMetrics(m *catalog) {
	var names, limited, classes []string
	for _, k := range c.eventKinds() {
		names, classes = append(names, k.name), append(classes, k.classes...)
		if k.limit != nil {
			limited = append(limited, k.name)
		}
	}
	begun := []string{
		"vitals_component_events_total", "vitals_component_event_errors_total",
		"vitals_component_consecutive_failures", "vitals_component_last_failure_timestamp_seconds",
	}
	m.configured("event", names, begun...)
	m.vanishing(begun...)
	m.closed("result", []string{"success", "failure", "excused"}, "vitals_component_events_total")
	m.configured("error", unique(classes), "vitals_component_event_errors_total")
	m.configured("event", limited, "vitals_component_consecutive_failures_limit")
}
