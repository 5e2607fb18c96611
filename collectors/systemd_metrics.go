package collectors

// The metrics of the kind systemd.
var (
	systemdUpMetric            = newGauge("vitals_systemd_up", "Whether systemd told the states of all units (1) or not (0).", "systemd")
	systemdFailureMetric       = newGauge("vitals_systemd_failure", "Why systemd did not tell something: 1 for that reason, 0 for all others.", "systemd", "reason")
	systemdUnitStateMetric     = newGauge("vitals_systemd_unit_state", "The active state of the unit: 1 for that state, 0 for all others.", "systemd", "unit", "state")
	systemdUnitLoadStateMetric = newGauge("vitals_systemd_unit_load_state", "Whether the configuration of the unit could be read: 1 for that state, 0 for all others.", "systemd", "unit", "state")
	systemdUnitStartMetric     = newGauge("vitals_systemd_unit_start_timestamp_seconds", "When the unit became active, in seconds since the epoch; absent while it is not.", "systemd", "unit")
	systemdUnitRestartsMetric  = newCounter("vitals_systemd_unit_restarts_total", "How often systemd has restarted the service by itself; starting it by hand begins anew.", "systemd", "unit")
	systemdUnitResultMetric    = newGauge("vitals_systemd_unit_result", "How the unit ended last: 1 for that result, 0 for all others.", "systemd", "unit", "result")
)

// systemdDefs are the metrics of the kind systemd.
func systemdDefs() []*Def {
	return []*Def{
		systemdUpMetric,
		systemdFailureMetric,
		systemdUnitStateMetric,
		systemdUnitLoadStateMetric,
		systemdUnitStartMetric,
		systemdUnitRestartsMetric,
		systemdUnitResultMetric,
	}
}

// Metrics implements Kind.
func (c *SystemdConfig) Metrics(name string) []Metric {
	reasons := systemdReasons()
	m := newCatalog(systemdDefs(), "systemd", name)
	m.closed("reason", texts(reasons[:]), systemdFailureMetric)
	m.configured("unit", c.Units,
		systemdUnitStateMetric, systemdUnitLoadStateMetric, systemdUnitStartMetric,
		systemdUnitRestartsMetric, systemdUnitResultMetric)
	m.closed("state", unitStates(), systemdUnitStateMetric)
	m.closed("state", unitLoadStates(), systemdUnitLoadStateMetric)
	m.closed("result", unitOutcomes(), systemdUnitResultMetric)
	m.bools(systemdUpMetric, systemdFailureMetric, systemdUnitStateMetric, systemdUnitLoadStateMetric, systemdUnitResultMetric)
	// Of a unit that systemd has not loaded, it says no more than that.
	m.vanishing(systemdUnitStartMetric, systemdUnitRestartsMetric, systemdUnitResultMetric)
	return m.list()
}
