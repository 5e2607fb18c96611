package ownmetrics

import "github.com/prometheus/client_golang/prometheus"

// Connections are those of a listener, or of several that share their bound.
type Connections struct {
	// Listener is web, probe, grpc or unix.
	Listener string
	// Open is the number of open connections.
	Open int
	// Evicted is how many were closed since the start to make room for others.
	Evicted uint64
}

// connectionMetrics are the metrics of the listeners' connections.
type connectionMetrics struct {
	open, evicted *prometheus.Desc
	get           func() []Connections
}

func newConnectionMetrics(get func() []Connections) connectionMetrics {
	return connectionMetrics{
		open: prometheus.NewDesc("vitals_http_connections",
			"Open connections, by the listener: web, probe, grpc or unix.", []string{"listener"}, nil),
		evicted: prometheus.NewDesc("vitals_http_connections_evicted_total",
			"Connections that were closed to make room for others, by the listener.", []string{"listener"}, nil),
		get: get,
	}
}

// Describe implements prometheus.Collector.
func (m connectionMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.open
	to <- m.evicted
}

// Collect implements prometheus.Collector.
func (m connectionMetrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.get() {
		to <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, float64(c.Open), c.Listener)
		to <- prometheus.MustNewConstMetric(m.evicted, prometheus.CounterValue, float64(c.Evicted), c.Listener)
	}
}
