package collectors

// The metrics of the kind file.
var (
	fileExistsMetric           = newGauge("vitals_file_exists", "Whether the file exists (1) or not (0); absent when nobody can say.", "file")
	fileSizeMetric             = newGauge("vitals_file_size_bytes", "Size of the file in bytes.", "file")
	fileMtimeMetric            = newGauge("vitals_file_mtime_timestamp_seconds", "When the content of the file was last changed, in seconds since the epoch.", "file")
	fileInfoMetric             = newGauge("vitals_file_info", "The path of the file and what kind of file it is; always 1 while it exists.", "file", "path", "type")
	fileOwnerUIDMetric         = newGauge("vitals_file_owner_uid", "The number of the user who owns the file.", "file")
	fileOwnerGIDMetric         = newGauge("vitals_file_owner_gid", "The number of the group that owns the file.", "file")
	filePermissionMetric       = newGauge("vitals_file_permission", "Whether the mode of the file gives this class of users this permission (1) or not (0).", "file", "class", "permission")
	fileValidMetric            = newGauge("vitals_file_valid", "Whether the content of the file is in its format (1) or not (0); absent when it could not be read.", "file", "format")
	fileKeyPresentMetric       = newGauge("vitals_file_key_present", "Whether the content of the file has this key (1) or not (0); absent unless it is in its format.", "file", "key")
	fileEpochMetric            = newGauge("vitals_file_epoch_timestamp_seconds", "The time that the content of the file has at this key, in seconds since the epoch.", "file", "key")
	fileAgeLimitMetric         = newGauge("vitals_file_age_limit_seconds", "The age that the configuration allows, in seconds.", "file")
	fileActiveLinesMetric      = newGauge("vitals_file_active_lines", "How many lines of the crontab run a command.", "file")
	fileUncommentedLinesMetric = newGauge("vitals_file_uncommented_lines", "How many lines of the crontab do not begin with a number sign, empty ones included.", "file")
	fileFailureMetric          = newGauge("vitals_file_failure", "Why the file could not be looked at, or why it is not valid: 1 for that reason, 0 for all others.", "file", "reason")
)

// fileDefs are the metrics of the kind file.
func fileDefs() []*Def {
	return []*Def{
		fileExistsMetric,
		fileSizeMetric,
		fileMtimeMetric,
		fileInfoMetric,
		fileOwnerUIDMetric,
		fileOwnerGIDMetric,
		filePermissionMetric,
		fileValidMetric,
		fileKeyPresentMetric,
		fileEpochMetric,
		fileAgeLimitMetric,
		fileActiveLinesMetric,
		fileUncommentedLinesMetric,
		fileFailureMetric,
	}
}

// Metrics implements Kind.
func (c *FileConfig) Metrics(name string) []Metric {
	m := newCatalog(fileDefs(), "file", name)
	m.configured("path", []string{c.Path}, fileInfoMetric)
	m.closed("type", fileTypes(), fileInfoMetric)
	m.closed("class", fileClasses(), filePermissionMetric)
	m.closed("permission", filePermissions(), filePermissionMetric)
	m.without(c.Format == "", fileValidMetric)
	m.chosen("format", []string{c.Format}, append(keyedFormats(), formatCrontab), fileValidMetric)
	m.configured("key", c.Keys, fileKeyPresentMetric)
	m.without(c.Epoch == "", fileEpochMetric)
	m.configured("key", []string{c.Epoch}, fileEpochMetric)
	m.without(c.AgeLimit == 0, fileAgeLimitMetric)
	m.without(c.Format != formatCrontab, fileActiveLinesMetric, fileUncommentedLinesMetric)
	m.closed("reason", texts(fileReasons()), fileFailureMetric)
	m.bools(fileExistsMetric, fileInfoMetric, filePermissionMetric, fileValidMetric, fileKeyPresentMetric, fileFailureMetric)
	// A file that does not exist is a measurement: there is no more to say of it.
	m.vanishing(fileSizeMetric, fileMtimeMetric, fileInfoMetric,
		fileOwnerUIDMetric, fileOwnerGIDMetric, filePermissionMetric, fileValidMetric, fileKeyPresentMetric,
		fileEpochMetric, fileActiveLinesMetric, fileUncommentedLinesMetric)
	return m.list()
}
