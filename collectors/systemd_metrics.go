package collectors

import "github.com/prometheus/common/model"

// systemdDescs are the metrics of the kind systemd.
func systemdDescs() []Desc {
	return []Desc{
		{"vitals_systemd_up", "Whether systemd told the states of all units (1) or not (0).", model.MetricTypeGauge},
		{"vitals_systemd_failure", "Why systemd did not tell something: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
		{"vitals_systemd_unit_state", "The active state of the unit: 1 for that state, 0 for all others.", model.MetricTypeGauge},
		{"vitals_systemd_unit_load_state", "Whether the configuration of the unit could be read: 1 for that state, 0 for all others.", model.MetricTypeGauge},
		{"vitals_systemd_unit_start_timestamp_seconds", "When the unit became active, in seconds since the epoch; absent while it is not.", model.MetricTypeGauge},
		{"vitals_systemd_unit_restarts_total", "How often systemd has restarted the service by itself; starting it by hand begins anew.", model.MetricTypeCounter},
		{"vitals_systemd_unit_result", "How the unit ended last: 1 for that result, 0 for all others.", model.MetricTypeGauge},
	}
}

// Metrics implements Kind.
func (c *SystemdConfig) Metrics(name string) []Metric {
	reasons := systemdReasons()
	m := newCatalog(systemdDescs(), "systemd", name)
	m.closed("reason", texts(reasons[:]), "vitals_systemd_failure")
	m.configured("unit", c.Units,
		"vitals_systemd_unit_state", "vitals_systemd_unit_load_state", "vitals_systemd_unit_start_timestamp_seconds",
		"vitals_systemd_unit_restarts_total", "vitals_systemd_unit_result")
	m.closed("state", unitStates(), "vitals_systemd_unit_state")
	m.closed("state", unitLoadStates(), "vitals_systemd_unit_load_state")
	m.closed("result", unitOutcomes(), "vitals_systemd_unit_result")
	m.bools("vitals_systemd_up", "vitals_systemd_failure", "vitals_systemd_unit_state", "vitals_systemd_unit_load_state", "vitals_systemd_unit_result")
	// Of a unit that systemd has not loaded, it says no more than that.
	m.vanishing("vitals_systemd_unit_start_timestamp_seconds", "vitals_systemd_unit_restarts_total", "vitals_systemd_unit_result")
	return m.list()
}
