package tcp

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind tcp.
var (
	phaseDurationMetric = collectors.NewGauge("vitals_tcp_phase_duration_seconds", "How long a phase of the last check took; absent for one that did not come to its end.", "dependency", "phase")
)

// defs are the metrics of the kind tcp.
func defs() []*collectors.Def {
	return append(append(remote.DependencyDefs(), ownDefs()...),
		phaseDurationMetric,
		remote.CertificateExpiryMetric,
	)
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Without(!c.Galera, mysqlWsrepLocalStateMetric, mysqlReadOnlyMetric)
	m.Without(c.TLS == nil && !c.startsTLS(), remote.CertificateExpiryMetric)
	m.Closed("phase", phases(), phaseDurationMetric)
	m.Bools(mysqlReadOnlyMetric)
	m.Vanishing(mysqlWsrepLocalStateMetric, mysqlReadOnlyMetric,
		phaseDurationMetric, remote.CertificateExpiryMetric)
	return m.List()
}
