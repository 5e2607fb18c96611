package icmp

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind icmp.
var (
	sentMetric      = collectors.NewGauge("vitals_icmp_requests_sent", "Echo requests that the last collection sent.", "dependency")
	receivedMetric  = collectors.NewGauge("vitals_icmp_replies_received", "Requests of the last collection that a reply answered before the deadline.", "dependency")
	lossMetric      = collectors.NewGauge("vitals_icmp_loss_ratio", "Share of the requests of the last collection without a reply, also of those that could not be sent.", "dependency")
	roundTripLeast  = collectors.NewGauge("vitals_icmp_round_trip_min_seconds", "Shortest time from a request of the last collection to its reply.", "dependency")
	roundTripMean   = collectors.NewGauge("vitals_icmp_round_trip_mean_seconds", "Mean time from a request of the last collection to its reply.", "dependency")
	roundTripMost   = collectors.NewGauge("vitals_icmp_round_trip_max_seconds", "Longest time from a request of the last collection to its reply.", "dependency")
	timeToLiveOfOne = collectors.NewGauge("vitals_icmp_reply_ttl", "Time to live (IPv4) or hop limit (IPv6) of the last reply: how many more routers it could have passed.", "dependency")
)

// reasonPermission means that this process may not open a socket for ICMP. It is no reason of
// remote.Reasons: the cure is on this host.
const reasonPermission remote.Reason = "permission"

// replyDefs are the metrics of replies.
func replyDefs() []*collectors.Def {
	return []*collectors.Def{roundTripLeast, roundTripMean, roundTripMost, timeToLiveOfOne}
}

func defs() []*collectors.Def {
	return append(append(remote.DependencyDefs(), sentMetric, receivedMetric, lossMetric), replyDefs()...)
}

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	if t := c.targets(); t != nil && name != "" {
		return t.Metrics(name)
	}
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m, reasonPermission)
	m.Vanishing(sentMetric, receivedMetric, lossMetric) // without an address or a socket
	m.Vanishing(replyDefs()...)
	return append(m.List(), discovery.AnyMetrics(name)...)
}
