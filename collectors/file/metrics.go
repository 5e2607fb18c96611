package file

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/files"
)

// The metrics of the kind file.
var (
	existsMetric           = collectors.NewGauge("vitals_file_exists", "Whether the file exists (1) or not (0); absent if the file system cannot report it.", "file")
	sizeMetric             = collectors.NewGauge("vitals_file_size_bytes", "Size of the file in bytes.", "file")
	mtimeMetric            = collectors.NewGauge("vitals_file_mtime_timestamp_seconds", "When the content of the file was last changed, in seconds since the epoch.", "file")
	infoMetric             = collectors.NewGauge("vitals_file_info", "The path and the type of the file; always 1 while it exists.", "file", "path", "type")
	ownerUIDMetric         = collectors.NewGauge("vitals_file_owner_uid", "The ID of the user who owns the file.", "file")
	ownerGIDMetric         = collectors.NewGauge("vitals_file_owner_gid", "The ID of the group that owns the file.", "file")
	permissionMetric       = collectors.NewGauge("vitals_file_permission", "Whether the mode of the file gives this class of users this permission (1) or not (0).", "file", "class", "permission")
	validMetric            = collectors.NewGauge("vitals_file_valid", "Whether the content of the file is valid in its format (1) or not (0); absent if it could not be read.", "file", "format")
	keyPresentMetric       = collectors.NewGauge("vitals_file_key_present", "Whether the content of the file has this key (1) or not (0); absent unless the content is valid.", "file", "key")
	epochMetric            = collectors.NewGauge("vitals_file_epoch_timestamp_seconds", "The time in the content of the file at this key, in seconds since the epoch.", "file", "key")
	ageLimitMetric         = collectors.NewGauge("vitals_file_age_limit_seconds", "The configured age limit, in seconds.", "file")
	activeLinesMetric      = collectors.NewGauge("vitals_file_active_lines", "How many lines of the crontab run a command.", "file")
	uncommentedLinesMetric = collectors.NewGauge("vitals_file_uncommented_lines", "How many lines of the crontab do not begin with a number sign, empty ones included.", "file")
	failureMetric          = collectors.NewGauge("vitals_file_failure", "Why the file could not be read or is not valid: 1 for that reason, 0 for all others.", "file", "reason")
)

// defs are the metrics of the kind file.
func defs() []*collectors.Def {
	return []*collectors.Def{
		existsMetric,
		sizeMetric,
		mtimeMetric,
		infoMetric,
		ownerUIDMetric,
		ownerGIDMetric,
		permissionMetric,
		validMetric,
		keyPresentMetric,
		epochMetric,
		ageLimitMetric,
		activeLinesMetric,
		uncommentedLinesMetric,
		failureMetric,
	}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "file", name)
	m.Configured("path", []string{c.Path}, infoMetric)
	m.Closed("type", files.Types(), infoMetric)
	m.Closed("class", classes(), permissionMetric)
	m.Closed("permission", permissions(), permissionMetric)
	m.Without(c.Format == "", validMetric)
	m.Chosen("format", []string{c.Format}, append(keyedFormats(), formatCrontab), validMetric)
	m.Configured("key", c.Keys, keyPresentMetric)
	m.Without(c.Epoch == "", epochMetric)
	m.Configured("key", []string{c.Epoch}, epochMetric)
	m.Without(c.AgeLimit == 0, ageLimitMetric)
	m.Without(c.Format != formatCrontab, activeLinesMetric, uncommentedLinesMetric)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric)
	m.Bools(existsMetric, infoMetric, permissionMetric, validMetric, keyPresentMetric, failureMetric)
	m.Vanishing(sizeMetric, mtimeMetric, infoMetric,
		ownerUIDMetric, ownerGIDMetric, permissionMetric, validMetric, keyPresentMetric,
		epochMetric, activeLinesMetric, uncommentedLinesMetric)
	return m.List()
}
