package collectors

// The metrics of the kind netlink.
var (
	netlinkUpMetric               = newGauge("vitals_netlink_up", "Whether the kernel listed all links (1) or not (0).", "netlink")
	netlinkLatencyMetric          = newGauge("vitals_netlink_latency_seconds", "How long listing the links took, from opening the socket to the end of the list.", "netlink")
	netlinkLinksMetric            = newGauge("vitals_netlink_links", "How many links there are in the network namespace.", "netlink")
	netlinkFailureMetric          = newGauge("vitals_netlink_failure", "Why the links could not be listed: 1 for that reason, 0 for all others.", "netlink", "reason")
	netlinkInterfacePresentMetric = newGauge("vitals_netlink_interface_present", "Whether there is a link of this name (1) or not (0).", "netlink", "interface")
	netlinkInterfaceUpMetric      = newGauge("vitals_netlink_interface_up", "Whether the link is administratively up (1) or down (0).", "netlink", "interface")
	netlinkInterfaceRunningMetric = newGauge("vitals_netlink_interface_running", "Whether the link can carry packets (1), because it is up and has its carrier, or not (0).", "netlink", "interface")
	netlinkWriteUpMetric          = newGauge("vitals_netlink_write_up", "Whether a link could be made and deleted (1) or not (0).", "netlink")
	netlinkWriteLatencyMetric     = newGauge("vitals_netlink_write_latency_seconds", "How long making and deleting a link took.", "netlink")
	netlinkWriteFailureMetric     = newGauge("vitals_netlink_write_failure", "Why no link could be made and deleted: 1 for that reason, 0 for all others.", "netlink", "reason")
)

// netlinkDefs are the metrics of the kind netlink.
func netlinkDefs() []*Def {
	return []*Def{
		netlinkUpMetric,
		netlinkLatencyMetric,
		netlinkLinksMetric,
		netlinkFailureMetric,
		netlinkInterfacePresentMetric,
		netlinkInterfaceUpMetric,
		netlinkInterfaceRunningMetric,
		netlinkWriteUpMetric,
		netlinkWriteLatencyMetric,
		netlinkWriteFailureMetric,
	}
}

// outcomeMetrics are the metrics of one operation.
type outcomeMetrics struct{ up, latency, failure *Def }

func listMetrics() outcomeMetrics {
	return outcomeMetrics{netlinkUpMetric, netlinkLatencyMetric, netlinkFailureMetric}
}

func writeMetrics() outcomeMetrics {
	return outcomeMetrics{netlinkWriteUpMetric, netlinkWriteLatencyMetric, netlinkWriteFailureMetric}
}

// Metrics implements Kind.
func (c *NetlinkConfig) Metrics(name string) []Metric {
	m := newCatalog(netlinkDefs(), "netlink", name)
	m.closed("reason", texts(netlinkReasons()), netlinkFailureMetric, netlinkWriteFailureMetric)
	m.configured("interface", c.Interfaces,
		netlinkInterfacePresentMetric, netlinkInterfaceUpMetric, netlinkInterfaceRunningMetric)
	m.without(!c.writes(), netlinkWriteUpMetric, netlinkWriteLatencyMetric, netlinkWriteFailureMetric)
	m.bools(netlinkUpMetric, netlinkFailureMetric, netlinkInterfacePresentMetric, netlinkInterfaceUpMetric,
		netlinkInterfaceRunningMetric, netlinkWriteUpMetric, netlinkWriteFailureMetric)
	m.vanishing(netlinkLatencyMetric, netlinkWriteLatencyMetric,
		netlinkInterfaceUpMetric, netlinkInterfaceRunningMetric)
	return m.list()
}
