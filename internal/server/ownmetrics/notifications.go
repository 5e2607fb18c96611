package ownmetrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Notifications are what one Alertmanager was sent.
type Notifications struct {
	// Alertmanager is its address, without credentials.
	Alertmanager string
	// Requested is set once a request has ended, and Success if the last one succeeded.
	Requested, Success bool
	// Sent, Errors and Dropped count alerts.
	Sent, Errors, Dropped uint64
	// Requests counts the requests that succeeded, and Took is their total duration.
	Requests uint64
	Took     time.Duration
	// Waiting is the number of alerts that are due, and Capacity how many are kept at most.
	Waiting, Capacity int
}

// notificationMetrics are the metrics of the alerts that are sent, with the names of those of
// Prometheus.
type notificationMetrics struct {
	success, sent, errors, dropped, latency, length, capacity *prometheus.Desc
	get                                                       func() []Notifications
}

func newNotificationMetrics(get func() []Notifications) notificationMetrics {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("vitals_notifications_"+name, help, []string{"alertmanager"}, nil)
	}
	return notificationMetrics{
		success:  desc("success", "Whether the last request to the Alertmanager succeeded (1) or not (0)."),
		sent:     desc("sent_total", "Alerts that were sent to the Alertmanager with success, each time counted."),
		errors:   desc("errors_total", "Alerts in requests to the Alertmanager that failed, each time counted."),
		dropped:  desc("dropped_total", "Alerts for which there was no room, and ends of alerts that could not be sent within 15 minutes."),
		latency:  desc("latency_seconds", "How long the requests to the Alertmanager took that succeeded."),
		length:   desc("queue_length", "Alerts that are due and were not sent yet."),
		capacity: desc("queue_capacity", "How many alerts are kept for the Alertmanager at most."),
		get:      get,
	}
}

// Describe implements prometheus.Collector.
func (m notificationMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.success, m.sent, m.errors, m.dropped, m.latency, m.length, m.capacity} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m notificationMetrics) Collect(to chan<- prometheus.Metric) {
	for _, n := range m.get() {
		value := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
			to <- prometheus.MustNewConstMetric(d, kind, v, n.Alertmanager)
		}
		if n.Requested {
			success := 0.0
			if n.Success {
				success = 1
			}
			value(m.success, prometheus.GaugeValue, success)
		}
		value(m.sent, prometheus.CounterValue, float64(n.Sent))
		value(m.errors, prometheus.CounterValue, float64(n.Errors))
		value(m.dropped, prometheus.CounterValue, float64(n.Dropped))
		value(m.length, prometheus.GaugeValue, float64(n.Waiting))
		value(m.capacity, prometheus.GaugeValue, float64(n.Capacity))
		to <- prometheus.MustNewConstSummary(m.latency, n.Requests, n.Took.Seconds(), nil, n.Alertmanager)
	}
}
