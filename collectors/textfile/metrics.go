package textfile

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind textfile.
var (
	upMetric       = collectors.NewGauge("vitals_textfile_up", "Whether there is at least one file, and every file was read (1) or not (0).", "component")
	filesMetric    = collectors.NewGauge("vitals_textfile_files", "How many files the last collection found; absent if the directory could not be read.", "component")
	samplesMetric  = collectors.NewGauge("vitals_textfile_samples", "How many samples the last collection read from all files.", "component")
	reservedMetric = collectors.NewGauge("vitals_textfile_reserved_samples", "How many samples were dropped because their names begin with vitals_.", "component")
	successMetric  = collectors.NewGauge("vitals_textfile_success", "Whether the file was read (1) or not (0).", "component", "path")
	mtimeMetric    = collectors.NewGauge("vitals_textfile_mtime_timestamp_seconds", "When the content of the file was last changed, in seconds since the epoch; absent if it was not read.", "component", "path")
	failureMetric  = collectors.NewGauge("vitals_textfile_failure", "Why the file could not be read, or with the configured path the directory: 1 for that reason, 0 for all others.", "component", "path", "reason")
)

// defs are the metrics of the kind textfile.
func defs() []*collectors.Def {
	return []*collectors.Def{upMetric, filesMetric, samplesMetric, reservedMetric, successMetric, mtimeMetric, failureMetric}
}

// Metrics implements collectors.Kind. It does not list the metrics of the files. The paths are
// known only if the configuration names one file.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "component", name)
	var paths []string
	if !isPattern(c.pattern()) {
		paths = []string{c.Path}
	}
	m.Open("path", paths, successMetric, mtimeMetric, failureMetric)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric)
	m.Bools(upMetric, successMetric, failureMetric)
	m.Vanishing(filesMetric, successMetric, mtimeMetric) // without a directory or a file
	return m.List()
}
