package disk

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind disk.
var (
	sizeMetric       = collectors.NewGauge("vitals_disk_size_bytes", "Size of the file system, in bytes.", "disk", "path")
	freeMetric       = collectors.NewGauge("vitals_disk_free_bytes", "Free space of the file system, in bytes, with the space that only root can use.", "disk", "path")
	availableMetric  = collectors.NewGauge("vitals_disk_available_bytes", "Free space that users other than root can use, in bytes.", "disk", "path")
	inodesMetric     = collectors.NewGauge("vitals_disk_inodes", "Number of inodes of the file system; 0 if it creates them on demand.", "disk", "path")
	inodesFreeMetric = collectors.NewGauge("vitals_disk_inodes_free", "Number of free inodes of the file system.", "disk", "path")
	writableMetric   = collectors.NewGauge("vitals_disk_writable", "Whether the file system is mounted for writing (1) or read-only (0).", "disk", "path")
	failureMetric    = collectors.NewGauge("vitals_disk_failure", "Why the file system could not be measured: 1 for that reason, 0 for all others.", "disk", "path", "reason")
)

func defs() []*collectors.Def {
	return []*collectors.Def{sizeMetric, freeMetric, availableMetric, inodesMetric, inodesFreeMetric, writableMetric, failureMetric}
}

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "disk", name)
	m.Configured("path", c.Paths)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric)
	m.Bools(writableMetric, failureMetric)
	m.Vanishing(sizeMetric, freeMetric, availableMetric, inodesMetric, inodesFreeMetric, writableMetric) // of a path that cannot be measured
	return m.List()
}
