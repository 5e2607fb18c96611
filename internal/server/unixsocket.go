package server

import "github.com/prometheus/client_golang/prometheus"

// socketMetric is the gauge of the Unix socket, which is absent without one.
type socketMetric struct {
	desc *prometheus.Desc
	get  func() (listening, ok bool)
}

func newSocketMetric(get func() (listening, ok bool)) socketMetric {
	return socketMetric{prometheus.NewDesc("vitals_unix_socket_listening",
		"Whether clients reach the Unix socket (1), or its file was removed and cannot be made again (0); absent without one.", nil, nil), get}
}

// Describe implements prometheus.Collector.
func (m socketMetric) Describe(to chan<- *prometheus.Desc) { to <- m.desc }

// Collect implements prometheus.Collector.
func (m socketMetric) Collect(to chan<- prometheus.Metric) {
	listening, ok := m.get()
	if !ok {
		return
	}
	var value float64
	if listening {
		value = 1
	}
	to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, value)
}
