package collectors

import "github.com/prometheus/common/model"

// scriptDescs are the metrics of the kind script.
func scriptDescs() []Desc {
	return append([]Desc{
		{"vitals_script_exit_code", "The exit code of the script; absent when it did not exit by itself.", model.MetricTypeGauge},
		{"vitals_script_signal", "The number of the signal that ended the script, or 0; absent when it did not run.", model.MetricTypeGauge},
		{"vitals_script_duration_seconds", "How long the script ran.", model.MetricTypeGauge},
		{"vitals_script_status", "What the script says by its convention: 1 for that status, 0 for all others.", model.MetricTypeGauge},
		{"vitals_script_failure", "Why the script could not be run to its end, or is not understood: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
		{"vitals_script_object_ok", "Whether the script says OK of the object (1) or anything else (0).", model.MetricTypeGauge},
	}, perfdataDescs()...)
}

// Metrics implements Kind.
func (c *ScriptConfig) Metrics(name string) []Metric {
	var data []string
	for _, d := range perfdataDescs() {
		data = append(data, d.Name)
	}
	m := newCatalog(scriptDescs(), "script", name)
	m.closed("status", texts(scriptStatuses()), "vitals_script_status")
	m.closed("reason", texts(scriptReasons()), "vitals_script_failure")
	m.without(c.Convention != conventionCategoryLines, "vitals_script_object_ok")
	m.closed("category", nil, "vitals_script_object_ok")
	m.closed("object", nil, "vitals_script_object_ok")
	m.without(c.Convention != conventionNagios, data...)
	m.closed("label", nil, data...)
	m.closed("unit", nil, data...)
	m.bools("vitals_script_status", "vitals_script_failure", "vitals_script_object_ok")
	if c.Missing == scriptMissingIgnore && !m.any {
		m.vanishing("vitals_script_status")
	}
	m.vanishing("vitals_script_exit_code", "vitals_script_signal", "vitals_script_duration_seconds", "vitals_script_object_ok")
	m.vanishing(data...)
	return m.list()
}
