// Package ownmetrics has the metrics of the serving process itself: its requests, connections and
// log, where it stores events, and what it sends to other systems. They come from memory and /proc,
// so gathering does not wait.
package ownmetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/collectors/version"
	dto "github.com/prometheus/client_model/go"
)

// Sources return what the metrics show. Each is optional.
type Sources struct {
	// DroppedLogLines returns how many lines of the log were dropped; nil for none.
	DroppedLogLines func() uint64
	// UnixSocket reports whether clients reach the Unix socket. ok is false without one, and
	// nil is as if there were none.
	UnixSocket func() (listening, ok bool)
	// Storage reports whether events are stored. ok is false if they are not to be, and nil
	// is as if they were not.
	Storage func() (writable, ok bool)
	// Connections returns the numbers of connections by listener; nil is without any.
	Connections func() []Connections
	// KubernetesReports returns what became of the reports to Kubernetes; nil is without any.
	KubernetesReports func() KubernetesReports
	// Notifications returns what each Alertmanager was sent; nil is without any.
	Notifications func() []Notifications
}

// Metrics are the metrics of one process. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
}

// New returns the metrics of the sources, in a registry of their own.
func New(s Sources) *Metrics {
	s.setDefaults()
	m := &Metrics{prometheus.NewRegistry(), newRequests()}
	m.registry.MustRegister(
		m.requests,
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "vitals_log_dropped_lines_total",
			Help: "Lines of the log that were dropped, because their reader is slow or gone.",
		}, func() float64 { return float64(s.DroppedLogLines()) }),
		newSocketMetric(s.UnixSocket),
		newStorageMetric(s.Storage),
		newConnectionMetrics(s.Connections),
		newReportMetrics(s.KubernetesReports),
		newNotificationMetrics(s.Notifications),
		version.NewCollector("vitals"),
		promcollectors.NewGoCollector(),
		promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}),
	)
	return m
}

func (s *Sources) setDefaults() {
	none := func() (good, ok bool) { return false, false }
	if s.DroppedLogLines == nil {
		s.DroppedLogLines = func() uint64 { return 0 }
	}
	if s.UnixSocket == nil {
		s.UnixSocket = none
	}
	if s.Storage == nil {
		s.Storage = none
	}
	if s.Connections == nil {
		s.Connections = func() []Connections { return nil }
	}
	if s.KubernetesReports == nil {
		s.KubernetesReports = func() KubernetesReports { return KubernetesReports{} }
	}
	if s.Notifications == nil {
		s.Notifications = func() []Notifications { return nil }
	}
}

// Gather returns all metrics. After an error of some of them, it returns the others as well.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) { return m.registry.Gather() }
