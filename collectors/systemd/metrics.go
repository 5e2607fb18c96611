package systemd

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind systemd.
var (
	upMetric            = collectors.NewGauge("vitals_systemd_up", "Whether systemd returned the states of all units (1) or not (0).", "systemd")
	failureMetric       = collectors.NewGauge("vitals_systemd_failure", "Reason of a failure: 1 for that reason, 0 for all others.", "systemd", "reason")
	unitStateMetric     = collectors.NewGauge("vitals_systemd_unit_state", "The active state of the unit: 1 for that state, 0 for all others.", "systemd", "unit", "state")
	unitLoadStateMetric = collectors.NewGauge("vitals_systemd_unit_load_state", "Whether the configuration of the unit could be read: 1 for that state, 0 for all others.", "systemd", "unit", "state")
	unitStartMetric     = collectors.NewGauge("vitals_systemd_unit_start_timestamp_seconds", "Time when the unit became active, in seconds since the epoch; absent while it is not.", "systemd", "unit")
	unitRestartsMetric  = collectors.NewCounter("vitals_systemd_unit_restarts_total", "Number of automatic restarts of the service; a manual start resets it.", "systemd", "unit")
	unitResultMetric    = collectors.NewGauge("vitals_systemd_unit_result", "Result of the last run of the unit: 1 for that result, 0 for all others.", "systemd", "unit", "result")
)

// defs are the metrics of the kind systemd.
func defs() []*collectors.Def {
	return []*collectors.Def{
		upMetric,
		failureMetric,
		unitStateMetric,
		unitLoadStateMetric,
		unitStartMetric,
		unitRestartsMetric,
		unitResultMetric,
	}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	reasons := reasons()
	m := collectors.NewCatalog(defs(), "systemd", name)
	m.Closed("reason", collectors.Texts(reasons[:]), failureMetric)
	m.Configured("unit", c.Units,
		unitStateMetric, unitLoadStateMetric, unitStartMetric,
		unitRestartsMetric, unitResultMetric)
	m.Closed("state", unitStates(), unitStateMetric)
	m.Closed("state", unitLoadStates(), unitLoadStateMetric)
	m.Closed("result", unitOutcomes(), unitResultMetric)
	m.Bools(upMetric, failureMetric, unitStateMetric, unitLoadStateMetric, unitResultMetric)
	// A unit that is not loaded has none of these.
	m.Vanishing(unitStartMetric, unitRestartsMetric, unitResultMetric)
	return m.List()
}
