package collectors

import "github.com/prometheus/common/model"

// tcpDescs are the metrics of the kind tcp.
func tcpDescs() []Desc {
	return append(append(dependencyDescs(), tcpOwnDescs()...),
		Desc{"vitals_tcp_phase_duration_seconds", "How long a phase of the last check took; absent for one that did not come to its end.", model.MetricTypeGauge},
		certificateExpiryDesc(),
	)
}

// Metrics implements Kind.
func (c *TCPConfig) Metrics(name string) []Metric {
	m := newCatalog(tcpDescs(), "dependency", name)
	m.dependency()
	m.without(!c.Galera, "vitals_mysql_wsrep_local_state", "vitals_mysql_read_only")
	m.without(c.TLS == nil && !c.startsTLS(), "vitals_tls_certificate_expiry_timestamp_seconds")
	m.closed("phase", tcpPhases(), "vitals_tcp_phase_duration_seconds")
	m.bools("vitals_mysql_read_only")
	m.vanishing("vitals_mysql_wsrep_local_state", "vitals_mysql_read_only",
		"vitals_tcp_phase_duration_seconds", "vitals_tls_certificate_expiry_timestamp_seconds")
	return m.list()
}
