package ownmetrics

import "github.com/prometheus/client_golang/prometheus"

// KubernetesReports are what became of the reports to Kubernetes.
type KubernetesReports struct {
	// Rights are those that the reports need.
	Rights []ReportRight
	// Events is set if events are reported, and Dropped is how many were not.
	Events  bool
	Dropped uint64
}

// ReportRight is the outcome of the requests that need a right.
type ReportRight struct {
	Verb, Resource string
	// Requested is set once a request has ended, and Success if the last one succeeded.
	Requested, Success bool
	// Failures counts the requests that failed.
	Failures uint64
}

// reportMetrics are the metrics of the reports to Kubernetes.
type reportMetrics struct {
	success, failures, dropped *prometheus.Desc
	get                        func() KubernetesReports
}

func newReportMetrics(get func() KubernetesReports) reportMetrics {
	right := []string{"resource", "verb"}
	return reportMetrics{
		success: prometheus.NewDesc("vitals_kubernetes_report_success",
			"Whether the last report to Kubernetes with this request succeeded (1) or not (0).", right, nil),
		failures: prometheus.NewDesc("vitals_kubernetes_report_failures_total",
			"Requests of reports to Kubernetes that failed.", right, nil),
		dropped: prometheus.NewDesc("vitals_kubernetes_report_dropped_events_total",
			"Events that were not reported to Kubernetes: above the rate limit, rejected, or too old.", nil, nil),
		get: get,
	}
}

// Describe implements prometheus.Collector.
func (m reportMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.success
	to <- m.failures
	to <- m.dropped
}

// Collect implements prometheus.Collector.
func (m reportMetrics) Collect(to chan<- prometheus.Metric) {
	reports := m.get()
	for _, r := range reports.Rights {
		if r.Requested {
			var value float64
			if r.Success {
				value = 1
			}
			to <- prometheus.MustNewConstMetric(m.success, prometheus.GaugeValue, value, r.Resource, r.Verb)
		}
		to <- prometheus.MustNewConstMetric(m.failures, prometheus.CounterValue, float64(r.Failures), r.Resource, r.Verb)
	}
	if reports.Events {
		to <- prometheus.MustNewConstMetric(m.dropped, prometheus.CounterValue, float64(reports.Dropped))
	}
}
