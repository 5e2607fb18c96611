package collectors

// The metrics of the kind script.
var (
	scriptExitCodeMetric = newGauge("vitals_script_exit_code", "The exit code of the script; absent when it did not exit by itself.", "script")
	scriptSignalMetric   = newGauge("vitals_script_signal", "The number of the signal that ended the script, or 0; absent when it did not run.", "script")
	scriptDurationMetric = newGauge("vitals_script_duration_seconds", "How long the script ran.", "script")
	scriptStatusMetric   = newGauge("vitals_script_status", "What the script says by its convention: 1 for that status, 0 for all others.", "script", "status")
	scriptFailureMetric  = newGauge("vitals_script_failure", "Why the script could not be run to its end, or is not understood: 1 for that reason, 0 for all others.", "script", "reason")
	scriptObjectOkMetric = newGauge("vitals_script_object_ok", "Whether the script says OK of the object (1) or anything else (0).", "script", "category", "object")
)

// scriptDefs are the metrics of the kind script.
func scriptDefs() []*Def {
	return append([]*Def{
		scriptExitCodeMetric,
		scriptSignalMetric,
		scriptDurationMetric,
		scriptStatusMetric,
		scriptFailureMetric,
		scriptObjectOkMetric,
	}, perfdataDefs()...)
}

// Metrics implements Kind.
func (c *ScriptConfig) Metrics(name string) []Metric {
	data := perfdataDefs()
	m := newCatalog(scriptDefs(), "script", name)
	m.closed("status", texts(scriptStatuses()), scriptStatusMetric)
	m.closed("reason", texts(scriptReasons()), scriptFailureMetric)
	m.without(c.Convention != conventionCategoryLines, scriptObjectOkMetric)
	m.closed("category", nil, scriptObjectOkMetric)
	m.closed("object", nil, scriptObjectOkMetric)
	m.without(c.Convention != conventionNagios, data...)
	m.closed("label", nil, data...)
	m.closed("unit", nil, data...)
	m.bools(scriptStatusMetric, scriptFailureMetric, scriptObjectOkMetric)
	if c.Missing == scriptMissingIgnore && !m.any {
		m.vanishing(scriptStatusMetric)
	}
	m.vanishing(scriptExitCodeMetric, scriptSignalMetric, scriptDurationMetric, scriptObjectOkMetric)
	m.vanishing(data...)
	return m.list()
}
