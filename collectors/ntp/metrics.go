package ntp

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind ntp.
var (
	offsetMetric       = collectors.NewGauge("vitals_ntp_offset_seconds", "How far the clock of the server is ahead of that of this host; negative if it is behind.", "dependency")
	roundTripMetric    = collectors.NewGauge("vitals_ntp_round_trip_seconds", "How long the query and the response were on the way, without the time in the server.", "dependency")
	rootDistanceMetric = collectors.NewGauge("vitals_ntp_root_distance_seconds", "Largest error of the time of the server, with the way to it.", "dependency")
	referenceMetric    = collectors.NewGauge("vitals_ntp_reference_timestamp_seconds", "When the clock of the server was last corrected, in seconds since the epoch.", "dependency")
	stratumMetric      = collectors.NewGauge("vitals_ntp_stratum", "How many servers are between the server and a reference clock; 16 is not synchronized, 0 a refusal.", "dependency")
	leapMetric         = collectors.NewGauge("vitals_ntp_leap", "Whether a leap second is announced: 1 for the state of the server, 0 for all others.", "dependency", "leap")
)

// leaps are the values of the label leap, at the index of the leap indicator of RFC 5905.
func leaps() []string { return []string{"none", "insert", "delete", "unsynchronized"} }

// ownDefs are the metrics of a response.
func ownDefs() []*collectors.Def {
	return []*collectors.Def{offsetMetric, roundTripMetric, rootDistanceMetric, referenceMetric, stratumMetric, leapMetric}
}

func defs() []*collectors.Def { return append(remote.DependencyDefs(), ownDefs()...) }

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Closed("leap", leaps(), leapMetric)
	m.Bools(leapMetric)
	m.Vanishing(ownDefs()...) // without a response, or without a usable time
	return m.List()
}
