package collectors

import "github.com/prometheus/common/model"

// netlinkDescs are the metrics of the kind netlink.
func netlinkDescs() []Desc {
	return []Desc{
		{"vitals_netlink_up", "Whether the kernel listed all links (1) or not (0).", model.MetricTypeGauge},
		{"vitals_netlink_latency_seconds", "How long listing the links took, from opening the socket to the end of the list.", model.MetricTypeGauge},
		{"vitals_netlink_links", "How many links there are in the network namespace.", model.MetricTypeGauge},
		{"vitals_netlink_failure", "Why the links could not be listed: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
		{"vitals_netlink_interface_present", "Whether there is a link of this name (1) or not (0).", model.MetricTypeGauge},
		{"vitals_netlink_interface_up", "Whether the link is administratively up (1) or down (0).", model.MetricTypeGauge},
		{"vitals_netlink_interface_running", "Whether the link can carry packets (1), because it is up and has its carrier, or not (0).", model.MetricTypeGauge},
		{"vitals_netlink_write_up", "Whether a link could be made and deleted (1) or not (0).", model.MetricTypeGauge},
		{"vitals_netlink_write_latency_seconds", "How long making and deleting a link took.", model.MetricTypeGauge},
		{"vitals_netlink_write_failure", "Why no link could be made and deleted: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
	}
}

// Metrics implements Kind.
func (c *NetlinkConfig) Metrics(name string) []Metric {
	m := newCatalog(netlinkDescs(), "netlink", name)
	m.closed("reason", texts(netlinkReasons()), "vitals_netlink_failure", "vitals_netlink_write_failure")
	m.configured("interface", c.Interfaces,
		"vitals_netlink_interface_present", "vitals_netlink_interface_up", "vitals_netlink_interface_running")
	m.without(!c.writes(), "vitals_netlink_write_up", "vitals_netlink_write_latency_seconds", "vitals_netlink_write_failure")
	m.bools("vitals_netlink_up", "vitals_netlink_failure", "vitals_netlink_interface_present", "vitals_netlink_interface_up",
		"vitals_netlink_interface_running", "vitals_netlink_write_up", "vitals_netlink_write_failure")
	m.vanishing("vitals_netlink_latency_seconds", "vitals_netlink_write_latency_seconds",
		"vitals_netlink_interface_up", "vitals_netlink_interface_running")
	return m.list()
}
