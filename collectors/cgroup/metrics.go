package cgroup

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind cgroup.
var (
	memoryUsageMetric                = collectors.NewGauge("vitals_cgroup_memory_usage_bytes", "Memory that the cgroup and those below it use, page cache included, swap not, in bytes.", "cgroup")
	memoryWorkingSetMetric           = collectors.NewGauge("vitals_cgroup_memory_working_set_bytes", "Memory in use less the page cache that was not used lately, in bytes.", "cgroup")
	memorySwapMetric                 = collectors.NewGauge("vitals_cgroup_memory_swap_bytes", "Swap that the cgroup and those below it use, in bytes; absent where the kernel does not account for it.", "cgroup")
	memoryLimitMetric                = collectors.NewGauge("vitals_cgroup_memory_limit_bytes", "The smallest of the kernel's memory limits that hold for the cgroup, in bytes; +Inf where there is none.", "cgroup")
	memoryOOMKillsMetric             = collectors.NewCounter("vitals_cgroup_memory_oom_kills_total", "Processes of the cgroup that the kernel killed for want of memory.", "cgroup")
	memoryPressureRatioMetric        = collectors.NewGauge("vitals_cgroup_memory_pressure_ratio", "Share of the window's time in which some or all (full) processes waited for memory, from 0 to 1.", "cgroup", "kind", "window")
	memoryPressureSecondsTotalMetric = collectors.NewCounter("vitals_cgroup_memory_pressure_seconds_total", "Time in which some or all (full) processes waited for memory, in seconds.", "cgroup", "kind")
	configuredLimitMetric            = collectors.NewGauge("vitals_memory_limit_bytes", "The limit that the configuration gives for the cgroup's memory, in bytes.", "cgroup")
	infoMetric                       = collectors.NewGauge("vitals_cgroup_info", "Which version of the cgroup interface accounts for the memory; always 1.", "cgroup", "version")
	failureMetric                    = collectors.NewGauge("vitals_cgroup_failure", "Why not all could be measured: 1 for that reason, 0 for all others.", "cgroup", "reason")
)

// defs are the metrics of the kind cgroup.
func defs() []*collectors.Def {
	return []*collectors.Def{
		memoryUsageMetric,
		memoryWorkingSetMetric,
		memorySwapMetric,
		memoryLimitMetric,
		memoryOOMKillsMetric,
		memoryPressureRatioMetric,
		memoryPressureSecondsTotalMetric,
		configuredLimitMetric,
		infoMetric,
		failureMetric,
	}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "cgroup", name)
	m.Closed("kind", []string{"some", "full"}, memoryPressureRatioMetric, memoryPressureSecondsTotalMetric)
	m.Closed("window", []string{"10s", "60s", "300s"}, memoryPressureRatioMetric)
	m.Closed("version", []string{"v1", "v2", "hybrid"}, infoMetric)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric)
	m.Without(c.Limit == nil, configuredLimitMetric)
	m.Bools(infoMetric, failureMetric)
	// Not every kernel has these.
	m.Vanishing(memorySwapMetric, memoryOOMKillsMetric,
		memoryPressureRatioMetric, memoryPressureSecondsTotalMetric)
	return m.List()
}
