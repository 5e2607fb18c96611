package collectors

// The metrics of the kind cgroup.
var (
	cgroupMemoryUsageMetric                = newGauge("vitals_cgroup_memory_usage_bytes", "Memory that the cgroup and those below it use, page cache included, swap not, in bytes.", "cgroup")
	cgroupMemoryWorkingSetMetric           = newGauge("vitals_cgroup_memory_working_set_bytes", "Memory in use less the page cache that was not used lately, in bytes.", "cgroup")
	cgroupMemorySwapMetric                 = newGauge("vitals_cgroup_memory_swap_bytes", "Swap that the cgroup and those below it use, in bytes; absent where the kernel does not account for it.", "cgroup")
	cgroupMemoryLimitMetric                = newGauge("vitals_cgroup_memory_limit_bytes", "The smallest of the kernel's memory limits that hold for the cgroup, in bytes; +Inf where there is none.", "cgroup")
	cgroupMemoryOOMKillsMetric             = newCounter("vitals_cgroup_memory_oom_kills_total", "Processes of the cgroup that the kernel killed for want of memory.", "cgroup")
	cgroupMemoryPressureRatioMetric        = newGauge("vitals_cgroup_memory_pressure_ratio", "Share of the window's time in which some or all (full) processes waited for memory, from 0 to 1.", "cgroup", "kind", "window")
	cgroupMemoryPressureSecondsTotalMetric = newCounter("vitals_cgroup_memory_pressure_seconds_total", "Time in which some or all (full) processes waited for memory, in seconds.", "cgroup", "kind")
	cgroupConfiguredLimitMetric            = newGauge("vitals_memory_limit_bytes", "The limit that the configuration gives for the cgroup's memory, in bytes.", "cgroup")
	cgroupInfoMetric                       = newGauge("vitals_cgroup_info", "Which version of the cgroup interface accounts for the memory; always 1.", "cgroup", "version")
	cgroupFailureMetric                    = newGauge("vitals_cgroup_failure", "Why not all could be measured: 1 for that reason, 0 for all others.", "cgroup", "reason")
)

// cgroupDefs are the metrics of the kind cgroup.
func cgroupDefs() []*Def {
	return []*Def{
		cgroupMemoryUsageMetric,
		cgroupMemoryWorkingSetMetric,
		cgroupMemorySwapMetric,
		cgroupMemoryLimitMetric,
		cgroupMemoryOOMKillsMetric,
		cgroupMemoryPressureRatioMetric,
		cgroupMemoryPressureSecondsTotalMetric,
		cgroupConfiguredLimitMetric,
		cgroupInfoMetric,
		cgroupFailureMetric,
	}
}

// Metrics implements Kind.
func (c *CgroupConfig) Metrics(name string) []Metric {
	m := newCatalog(cgroupDefs(), "cgroup", name)
	m.closed("kind", []string{"some", "full"}, cgroupMemoryPressureRatioMetric, cgroupMemoryPressureSecondsTotalMetric)
	m.closed("window", []string{"10s", "60s", "300s"}, cgroupMemoryPressureRatioMetric)
	m.closed("version", []string{"v1", "v2", "hybrid"}, cgroupInfoMetric)
	m.closed("reason", texts(cgroupReasons()), cgroupFailureMetric)
	m.without(c.Limit == nil, cgroupConfiguredLimitMetric)
	m.bools(cgroupInfoMetric, cgroupFailureMetric)
	// Not every kernel has these.
	m.vanishing(cgroupMemorySwapMetric, cgroupMemoryOOMKillsMetric,
		cgroupMemoryPressureRatioMetric, cgroupMemoryPressureSecondsTotalMetric)
	return m.list()
}
