package script

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind script.
var (
	exitCodeMetric = collectors.NewGauge("vitals_script_exit_code", "The exit code of the script; absent unless it exited.", "script")
	signalMetric   = collectors.NewGauge("vitals_script_signal", "The number of the signal that ended the script, or 0; absent if it did not run.", "script")
	durationMetric = collectors.NewGauge("vitals_script_duration_seconds", "How long the script ran.", "script")
	statusMetric   = collectors.NewGauge("vitals_script_status", "The status of the script by its convention: 1 for that status, 0 for all others.", "script", "status")
	failureMetric  = collectors.NewGauge("vitals_script_failure", "Why the script did not exit, or its output is not valid: 1 for that reason, 0 for all others.", "script", "reason")
	objectOkMetric = collectors.NewGauge("vitals_script_object_ok", "Whether the status of the object is OK (1) or anything else (0).", "script", "category", "object")
)

// defs are the metrics of the kind script.
func defs() []*collectors.Def {
	return append([]*collectors.Def{
		exitCodeMetric,
		signalMetric,
		durationMetric,
		statusMetric,
		failureMetric,
		objectOkMetric,
	}, perfdataDefs()...)
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	data := perfdataDefs()
	m := collectors.NewCatalog(defs(), "script", name)
	m.Closed("status", collectors.Texts(statuses()), statusMetric)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric)
	m.Without(c.Convention != conventionCategoryLines, objectOkMetric)
	m.Closed("category", nil, objectOkMetric)
	m.Closed("object", nil, objectOkMetric)
	m.Without(c.Convention != conventionNagios, data...)
	m.Closed("label", nil, data...)
	m.Closed("unit", nil, data...)
	m.Bools(statusMetric, failureMetric, objectOkMetric)
	if c.Missing == missingIgnore && !m.Any {
		m.Vanishing(statusMetric)
	}
	m.Vanishing(exitCodeMetric, signalMetric, durationMetric, objectOkMetric)
	m.Vanishing(data...)
	return m.List()
}
