package collectors

// The metrics of the kind tcp.
var (
	tcpPhaseDurationMetric = newGauge("vitals_tcp_phase_duration_seconds", "How long a phase of the last check took; absent for one that did not come to its end.", "dependency", "phase")
)

// tcpDefs are the metrics of the kind tcp.
func tcpDefs() []*Def {
	return append(append(dependencyDefs(), tcpOwnDefs()...),
		tcpPhaseDurationMetric,
		certificateExpiryMetric,
	)
}

// Metrics implements Kind.
func (c *TCPConfig) Metrics(name string) []Metric {
	m := newCatalog(tcpDefs(), "dependency", name)
	describeDependency(m)
	m.without(!c.Galera, tcpMysqlWsrepLocalStateMetric, tcpMysqlReadOnlyMetric)
	m.without(c.TLS == nil && !c.startsTLS(), certificateExpiryMetric)
	m.closed("phase", tcpPhases(), tcpPhaseDurationMetric)
	m.bools(tcpMysqlReadOnlyMetric)
	m.vanishing(tcpMysqlWsrepLocalStateMetric, tcpMysqlReadOnlyMetric,
		tcpPhaseDurationMetric, certificateExpiryMetric)
	return m.list()
}
