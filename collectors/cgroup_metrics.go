package collectors

import "github.com/prometheus/common/model"

// cgroupDescs are the metrics of the kind cgroup.
func cgroupDescs() []Desc {
	return []Desc{
		{"vitals_cgroup_memory_usage_bytes", "Memory that the cgroup and those below it use, page cache included, swap not, in bytes.", model.MetricTypeGauge},
		{"vitals_cgroup_memory_working_set_bytes", "Memory in use less the page cache that was not used lately, in bytes.", model.MetricTypeGauge},
		{"vitals_cgroup_memory_swap_bytes", "Swap that the cgroup and those below it use, in bytes; absent where the kernel does not account for it.", model.MetricTypeGauge},
		{"vitals_cgroup_memory_limit_bytes", "The smallest of the kernel's memory limits that hold for the cgroup, in bytes; +Inf where there is none.", model.MetricTypeGauge},
		{"vitals_cgroup_memory_oom_kills_total", "Processes of the cgroup that the kernel killed for want of memory.", model.MetricTypeCounter},
		{"vitals_cgroup_memory_pressure_ratio", "Share of the window's time in which some or all (full) processes waited for memory, from 0 to 1.", model.MetricTypeGauge},
		{"vitals_cgroup_memory_pressure_seconds_total", "Time in which some or all (full) processes waited for memory, in seconds.", model.MetricTypeCounter},
		{"vitals_memory_limit_bytes", "The limit that the configuration gives for the cgroup's memory, in bytes.", model.MetricTypeGauge},
		{"vitals_cgroup_info", "Which version of the cgroup interface accounts for the memory; always 1.", model.MetricTypeGauge},
		{"vitals_cgroup_failure", "Why not all could be measured: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
	}
}

// Metrics implements Kind.
func (c *CgroupConfig) Metrics(name string) []Metric {
	m := newCatalog(cgroupDescs(), "cgroup", name)
	m.closed("kind", []string{"some", "full"}, "vitals_cgroup_memory_pressure_ratio", "vitals_cgroup_memory_pressure_seconds_total")
	m.closed("window", []string{"10s", "60s", "300s"}, "vitals_cgroup_memory_pressure_ratio")
	m.closed("version", []string{"v1", "v2", "hybrid"}, "vitals_cgroup_info")
	m.closed("reason", texts(cgroupReasons()), "vitals_cgroup_failure")
	m.without(c.Limit == nil, "vitals_memory_limit_bytes")
	m.bools("vitals_cgroup_info", "vitals_cgroup_failure")
	// Not every kernel has these.
	m.vanishing("vitals_cgroup_memory_swap_bytes", "vitals_cgroup_memory_oom_kills_total",
		"vitals_cgroup_memory_pressure_ratio", "vitals_cgroup_memory_pressure_seconds_total")
	return m.list()
}
