package collectors

// The metrics of the kind components.
var (
	componentsExpectedMetric       = newGauge("vitals_component_expected", "Whether the configuration expects the component to report; always 1.", "component")
	componentsReportedMetric       = newGauge("vitals_component_reported", "Whether the component has ever reported (1) or not (0).", "component")
	componentsAliveMetric          = newGauge("vitals_component_alive", "Whether the component is alive (1) or not (0); absent while nothing is known.", "component")
	componentsReadyMetric          = newGauge("vitals_component_ready", "Whether the component is ready (1) or not (0); absent while nothing is known.", "component")
	componentsLastReportMetric     = newGauge("vitals_component_last_report_timestamp_seconds", "When the component last reported, in seconds since the epoch.", "component")
	componentsReportsMetric        = newCounter("vitals_component_reports_total", "How many reports of the component were taken.", "component")
	componentsInvalidReportsMetric = newCounter("vitals_component_invalid_reports_total", "How many datagrams of the component were not or not wholly understood.", "component")
)

// componentsDefs are the metrics of the kind components.
func componentsDefs() []*Def {
	return append([]*Def{
		componentsExpectedMetric,
		componentsReportedMetric,
		componentsAliveMetric,
		componentsReadyMetric,
		componentsLastReportMetric,
		componentsReportsMetric,
		componentsInvalidReportsMetric,
	}, eventDefs()...)
}

// Metrics implements Kind. The collector's own name is in none of its labels.
func (c *ComponentsConfig) Metrics(name string) []Metric {
	m := newCatalog(componentsDefs(), "", name)
	known := c.names()
	ofEach := []*Def{
		componentsReportedMetric, componentsAliveMetric, componentsReadyMetric,
		componentsLastReportMetric, componentsReportsMetric,
		componentsInvalidReportsMetric, componentsEventsMetric, componentsEventErrorsMetric,
		componentsConsecutiveFailuresMetric, componentsLastFailureMetric,
	}
	m.configured("component", known, componentsExpectedMetric)
	if c.acceptsAny() && !m.any { // a component is there once it has reported
		m.open("component", nil, ofEach...)
		m.vanishing(componentsReportedMetric, componentsReportsMetric, componentsInvalidReportsMetric)
	} else {
		m.configured("component", known, ofEach...)
	}
	m.vanishing(componentsAliveMetric, componentsReadyMetric, componentsLastReportMetric)
	m.bools(componentsExpectedMetric, componentsReportedMetric, componentsAliveMetric, componentsReadyMetric)
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
	begun := []*Def{
		componentsEventsMetric, componentsEventErrorsMetric,
		componentsConsecutiveFailuresMetric, componentsLastFailureMetric,
	}
	m.configured("event", names, begun...)
	m.vanishing(begun...)
	m.closed("result", []string{"success", "failure", "excused"}, componentsEventsMetric)
	m.configured("error", unique(classes), componentsEventErrorsMetric)
	m.configured("event", limited, componentsConsecutiveFailuresLimitMetric)
}
