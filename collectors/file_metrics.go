package collectors

import "github.com/prometheus/common/model"

// fileDescs are the metrics of the kind file.
func fileDescs() []Desc {
	return []Desc{
		{"vitals_file_exists", "Whether the file exists (1) or not (0); absent when nobody can say.", model.MetricTypeGauge},
		{"vitals_file_size_bytes", "Size of the file in bytes.", model.MetricTypeGauge},
		{"vitals_file_mtime_timestamp_seconds", "When the content of the file was last changed, in seconds since the epoch.", model.MetricTypeGauge},
		{"vitals_file_info", "The path of the file and what kind of file it is; always 1 while it exists.", model.MetricTypeGauge},
		{"vitals_file_owner_uid", "The number of the user who owns the file.", model.MetricTypeGauge},
		{"vitals_file_owner_gid", "The number of the group that owns the file.", model.MetricTypeGauge},
		{"vitals_file_permission", "Whether the mode of the file gives this class of users this permission (1) or not (0).", model.MetricTypeGauge},
		{"vitals_file_valid", "Whether the content of the file is in its format (1) or not (0); absent when it could not be read.", model.MetricTypeGauge},
		{"vitals_file_key_present", "Whether the content of the file has this key (1) or not (0); absent unless it is in its format.", model.MetricTypeGauge},
		{"vitals_file_epoch_timestamp_seconds", "The time that the content of the file has at this key, in seconds since the epoch.", model.MetricTypeGauge},
		{"vitals_file_age_limit_seconds", "The age that the configuration allows, in seconds.", model.MetricTypeGauge},
		{"vitals_file_active_lines", "How many lines of the crontab run a command.", model.MetricTypeGauge},
		{"vitals_file_uncommented_lines", "How many lines of the crontab do not begin with a number sign, empty ones included.", model.MetricTypeGauge},
		{"vitals_file_failure", "Why the file could not be looked at, or why it is not valid: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
	}
}

// Metrics implements Kind.
func (c *FileConfig) Metrics(name string) []Metric {
	m := newCatalog(fileDescs(), "file", name)
	m.configured("path", []string{c.Path}, "vitals_file_info")
	m.closed("type", fileTypes(), "vitals_file_info")
	m.closed("class", fileClasses(), "vitals_file_permission")
	m.closed("permission", filePermissions(), "vitals_file_permission")
	m.without(c.Format == "", "vitals_file_valid")
	m.chosen("format", []string{c.Format}, append(keyedFormats(), formatCrontab), "vitals_file_valid")
	m.configured("key", c.Keys, "vitals_file_key_present")
	m.without(c.Epoch == "", "vitals_file_epoch_timestamp_seconds")
	m.configured("key", []string{c.Epoch}, "vitals_file_epoch_timestamp_seconds")
	m.without(c.AgeLimit == 0, "vitals_file_age_limit_seconds")
	m.without(c.Format != formatCrontab, "vitals_file_active_lines", "vitals_file_uncommented_lines")
	m.closed("reason", texts(fileReasons()), "vitals_file_failure")
	m.bools("vitals_file_exists", "vitals_file_info", "vitals_file_permission", "vitals_file_valid", "vitals_file_key_present", "vitals_file_failure")
	// A file that does not exist is a measurement: there is no more to say of it.
	m.vanishing("vitals_file_size_bytes", "vitals_file_mtime_timestamp_seconds", "vitals_file_info",
		"vitals_file_owner_uid", "vitals_file_owner_gid", "vitals_file_permission", "vitals_file_valid", "vitals_file_key_present",
		"vitals_file_epoch_timestamp_seconds", "vitals_file_active_lines", "vitals_file_uncommented_lines")
	return m.list()
}
