package cgroup

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind cgroup.
var (
	memoryUsageMetric                = collectors.NewGauge("vitals_cgroup_memory_usage_bytes", "Memory of the cgroup and those below it with page cache and without swap, in bytes.", "cgroup")
	memoryWorkingSetMetric           = collectors.NewGauge("vitals_cgroup_memory_working_set_bytes", "Memory in use without the inactive page cache, in bytes.", "cgroup")
	memorySwapMetric                 = collectors.NewGauge("vitals_cgroup_memory_swap_bytes", "Swap of the cgroup and those below it, in bytes; absent if the kernel does not account for it.", "cgroup")
	memoryLimitMetric                = collectors.NewGauge("vitals_cgroup_memory_limit_bytes", "Smallest memory limit of the kernel for the cgroup, in bytes; +Inf without a limit.", "cgroup")
	memoryOOMKillsMetric             = collectors.NewCounter("vitals_cgroup_memory_oom_kills_total", "Processes of the cgroup that the kernel killed because of lack of memory.", "cgroup")
	memoryPressureRatioMetric        = collectors.NewGauge("vitals_cgroup_memory_pressure_ratio", "Share of the window's time in which some or all (full) processes waited for memory, from 0 to 1.", "cgroup", "kind", "window")
	memoryPressureSecondsTotalMetric = collectors.NewCounter("vitals_cgroup_memory_pressure_seconds_total", "Time in which some or all (full) processes waited for memory, in seconds.", "cgroup", "kind")
	configuredLimitMetric            = collectors.NewGauge("vitals_memory_limit_bytes", "Configured memory limit of the cgroup, in bytes.", "cgroup")
	infoMetric                       = collectors.NewGauge("vitals_cgroup_info", "Version of the cgroup interface that accounts for the memory; always 1.", "cgroup", "version")
	failureMetric                    = collectors.NewGauge("vitals_cgroup_failure", "Reason of a failure: 1 for that reason, 0 for all others.", "cgroup", "reason")
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
