package memcached

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The reasons that remote.Reasons does not have.
const (
	reasonLoginRequired      remote.Reason = "login_required"
	reasonTooManyConnections remote.Reason = "too_many_connections"
)

// ownReasons returns the reasons of vitals_dependency_failure that only this kind has.
func ownReasons() []remote.Reason {
	return []remote.Reason{reasonLoginRequired, reasonTooManyConnections}
}

// The metrics of the kind memcached.
var (
	memoryMetric           = collectors.NewGauge("vitals_memcached_memory_used_bytes", "How much memory the items use, in bytes.", "dependency")
	memoryLimitMetric      = collectors.NewGauge("vitals_memcached_memory_limit_bytes", "How much memory the items may use, in bytes.", "dependency")
	connectionsMetric      = collectors.NewGauge("vitals_memcached_connections", "How many connections the server has, with that of the check.", "dependency")
	connectionsLimitMetric = collectors.NewGauge("vitals_memcached_connections_limit", "How many connections the server accepts.", "dependency")
	acceptingMetric        = collectors.NewGauge("vitals_memcached_accepting_connections", "Whether the server accepts connections (1) or has as many as it accepts (0).", "dependency")
	rejectedMetric         = collectors.NewCounter("vitals_memcached_connections_rejected_total", "How many connections the server has refused because it had as many as it accepts.", "dependency")
	evictionsMetric        = collectors.NewCounter("vitals_memcached_evictions_total", "How many items the server has removed before they expired, to have memory for others.", "dependency")
)

// statistic is a field of stats with the metric that has its number.
type statistic struct {
	field string
	def   *collectors.Def
}

// statistics are the fields that are read.
// Source: memcached/doc/protocol.txt, "General-purpose statistics".
func statistics() []statistic {
	return []statistic{
		{"bytes", memoryMetric}, {"limit_maxbytes", memoryLimitMetric},
		{"curr_connections", connectionsMetric}, {"max_connections", connectionsLimitMetric}, {"accepting_conns", acceptingMetric},
		{"rejected_connections", rejectedMetric}, {"evictions", evictionsMetric},
	}
}

func ownDefs() []*collectors.Def {
	var own []*collectors.Def
	for _, s := range statistics() {
		own = append(own, s.def)
	}
	return own
}

func defs() []*collectors.Def {
	return append(append(remote.DependencyDefs(), ownDefs()...), remote.CertificateExpiryMetric)
}

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m, ownReasons()...)
	m.Without(c.TLS == nil, remote.CertificateExpiryMetric)
	m.Bools(acceptingMetric)
	m.Vanishing(append(ownDefs(), remote.CertificateExpiryMetric)...) // without an answer, or in a server without the field
	return m.List()
}
