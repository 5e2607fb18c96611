package tcp

import (
	"slices"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// The metrics of the kind tcp.
var (
	phaseDurationMetric        = collectors.NewGauge("vitals_tcp_phase_duration_seconds", "How long a phase of the last check took; absent for a phase that did not complete.", "dependency", "phase")
	mysqlWsrepLocalStateMetric = collectors.NewGauge("vitals_mysql_wsrep_local_state", "The state of the node in its Galera cluster, the value of wsrep_local_state: 4 is synced, 2 a donor; absent without galera.", "dependency")
	mysqlReadOnlyMetric        = collectors.NewGauge("vitals_mysql_read_only", "Whether the server is read-only (1) or not (0); absent without galera.", "dependency")
)

// ownDefs are the metrics that only one protocol has.
func ownDefs() []*collectors.Def {
	return []*collectors.Def{mysqlWsrepLocalStateMetric, mysqlReadOnlyMetric}
}

// defs are the metrics of the kind tcp.
func defs() []*collectors.Def {
	all := append(append(remote.DependencyDefs(), ownDefs()...), query.Defs()...)
	return append(all, phaseDurationMetric, remote.CertificateExpiryMetric)
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	if t := c.targets(); t != nil && name != "" {
		return t.Metrics(name)
	}
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Without(!c.Galera, mysqlWsrepLocalStateMetric, mysqlReadOnlyMetric)
	m.Without(c.TLS == nil && !c.startsTLS(), remote.CertificateExpiryMetric)
	m.Chosen("phase", c.phases(), phases(), phaseDurationMetric)
	c.Queries.Describe(m)
	m.Bools(mysqlReadOnlyMetric)
	m.Vanishing(mysqlWsrepLocalStateMetric, mysqlReadOnlyMetric,
		phaseDurationMetric, remote.CertificateExpiryMetric)
	return append(m.List(), discovery.AnyMetrics(name)...)
}

// phases returns the phases that the configuration may have. Whether there is a name to resolve
// depends on the address of each target.
func (c *Config) phases() []string {
	secured, talks := c.TLS != nil || c.startsTLS(), c.Protocol != "" || len(c.QueryResponse) > 0
	return slices.DeleteFunc(phases(), func(phase string) bool { return phase == "tls" && !secured || phase == "exchange" && !talks })
}
