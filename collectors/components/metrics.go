package components

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind components.
var (
	expectedMetric       = collectors.NewGauge("vitals_component_expected", "Whether the configuration expects the component to report; always 1.", "component")
	reportedMetric       = collectors.NewGauge("vitals_component_reported", "Whether the component has ever reported (1) or not (0).", "component")
	aliveMetric          = collectors.NewGauge("vitals_component_alive", "Whether the component is alive (1) or not (0); absent while unknown.", "component")
	readyMetric          = collectors.NewGauge("vitals_component_ready", "Whether the component is ready (1) or not (0); absent while unknown.", "component")
	lastReportMetric     = collectors.NewGauge("vitals_component_last_report_timestamp_seconds", "Time of the last report of the component, in seconds since the epoch.", "component")
	reportsMetric        = collectors.NewCounter("vitals_component_reports_total", "Number of accepted reports of the component.", "component")
	invalidReportsMetric = collectors.NewCounter("vitals_component_invalid_reports_total", "Number of datagrams of the component that were invalid, wholly or in part.", "component")
)

// defs are the metrics of the kind components.
func defs() []*collectors.Def {
	return append([]*collectors.Def{
		expectedMetric,
		reportedMetric,
		aliveMetric,
		readyMetric,
		lastReportMetric,
		reportsMetric,
		invalidReportsMetric,
	}, eventDefs()...)
}

// Metrics implements Kind. No label has the name of the collector.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "", name)
	known := c.names()
	ofEach := []*collectors.Def{
		reportedMetric, aliveMetric, readyMetric,
		lastReportMetric, reportsMetric,
		invalidReportsMetric, eventsMetric, eventErrorsMetric,
		consecutiveFailuresMetric, lastFailureMetric,
	}
	m.Configured("component", known, expectedMetric)
	if c.acceptsAny() && !m.Any { // a component exists after its first report
		m.Open("component", nil, ofEach...)
		m.Vanishing(reportedMetric, reportsMetric, invalidReportsMetric)
	} else {
		m.Configured("component", known, ofEach...)
	}
	m.Vanishing(aliveMetric, readyMetric, lastReportMetric)
	m.Bools(expectedMetric, reportedMetric, aliveMetric, readyMetric)
	c.eventMetrics(m)
	return m.List()
}

// eventMetrics adds the metrics of the events.
func (c *Config) eventMetrics(m *collectors.Catalog) {
	var names, limited, classes []string
	for _, k := range c.eventKinds() {
		names, classes = append(names, k.name), append(classes, k.classes...)
		if k.limit != nil {
			limited = append(limited, k.name)
		}
	}
	begun := []*collectors.Def{
		eventsMetric, eventErrorsMetric,
		consecutiveFailuresMetric, lastFailureMetric,
	}
	m.Configured("event", names, begun...)
	m.Vanishing(begun...)
	m.Closed("result", []string{"success", "failure", "excused"}, eventsMetric)
	m.Configured("error", collectors.Unique(classes), eventErrorsMetric)
	m.Configured("event", limited, consecutiveFailuresLimitMetric)
}
