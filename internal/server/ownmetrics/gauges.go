package ownmetrics

import "github.com/prometheus/client_golang/prometheus"

// optionalGauge is the gauge of something that a process may not have. It is absent then.
type optionalGauge struct {
	desc *prometheus.Desc
	get  func() (good, ok bool)
}

func newSocketMetric(get func() (listening, ok bool)) optionalGauge {
	return optionalGauge{prometheus.NewDesc("vitals_unix_socket_listening",
		"Whether clients reach the Unix socket (1), or its file was removed and cannot be made again (0); absent without one.", nil, nil), get}
}

func newStorageMetric(get func() (writable, ok bool)) optionalGauge {
	return optionalGauge{prometheus.NewDesc("vitals_storage_writable",
		"Whether events are stored in the directory of --storage.path (1) or cannot be (0); absent without one.", nil, nil), get}
}

// Describe implements prometheus.Collector.
func (m optionalGauge) Describe(to chan<- *prometheus.Desc) { to <- m.desc }

// Collect implements prometheus.Collector.
func (m optionalGauge) Collect(to chan<- prometheus.Metric) {
	good, ok := m.get()
	if !ok {
		return
	}
	var value float64
	if good {
		value = 1
	}
	to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, value)
}
