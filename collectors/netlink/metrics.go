package netlink

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind netlink.
var (
	upMetric               = collectors.NewGauge("vitals_netlink_up", "Whether the kernel listed all links (1) or not (0).", "netlink")
	latencyMetric          = collectors.NewGauge("vitals_netlink_latency_seconds", "Duration of listing the links, from opening the socket to the end of the list.", "netlink")
	linksMetric            = collectors.NewGauge("vitals_netlink_links", "Number of links in the network namespace.", "netlink")
	failureMetric          = collectors.NewGauge("vitals_netlink_failure", "Reason why the links could not be listed: 1 for that reason, 0 for all others.", "netlink", "reason")
	interfacePresentMetric = collectors.NewGauge("vitals_netlink_interface_present", "Whether a link of this name exists (1) or not (0).", "netlink", "interface")
	interfaceUpMetric      = collectors.NewGauge("vitals_netlink_interface_up", "Whether the link is administratively up (1) or down (0).", "netlink", "interface")
	interfaceRunningMetric = collectors.NewGauge("vitals_netlink_interface_running", "Whether the link is up and has a carrier (1) or not (0).", "netlink", "interface")
	writeUpMetric          = collectors.NewGauge("vitals_netlink_write_up", "Whether a link was created and deleted (1) or not (0).", "netlink")
	writeLatencyMetric     = collectors.NewGauge("vitals_netlink_write_latency_seconds", "Duration of creating and deleting a link.", "netlink")
	writeFailureMetric     = collectors.NewGauge("vitals_netlink_write_failure", "Reason why no link could be created and deleted: 1 for that reason, 0 for all others.", "netlink", "reason")
)

// defs are the metrics of the kind netlink.
func defs() []*collectors.Def {
	return []*collectors.Def{
		upMetric,
		latencyMetric,
		linksMetric,
		failureMetric,
		interfacePresentMetric,
		interfaceUpMetric,
		interfaceRunningMetric,
		writeUpMetric,
		writeLatencyMetric,
		writeFailureMetric,
	}
}

// outcomeMetrics are the metrics of one operation.
type outcomeMetrics struct{ up, latency, failure *collectors.Def }

func listMetrics() outcomeMetrics {
	return outcomeMetrics{upMetric, latencyMetric, failureMetric}
}

func writeMetrics() outcomeMetrics {
	return outcomeMetrics{writeUpMetric, writeLatencyMetric, writeFailureMetric}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "netlink", name)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric, writeFailureMetric)
	m.Configured("interface", c.Interfaces,
		interfacePresentMetric, interfaceUpMetric, interfaceRunningMetric)
	m.Without(!c.writes(), writeUpMetric, writeLatencyMetric, writeFailureMetric)
	m.Bools(upMetric, failureMetric, interfacePresentMetric, interfaceUpMetric,
		interfaceRunningMetric, writeUpMetric, writeFailureMetric)
	m.Vanishing(latencyMetric, writeLatencyMetric,
		interfaceUpMetric, interfaceRunningMetric)
	return m.List()
}
