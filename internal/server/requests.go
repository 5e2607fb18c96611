package server

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/collectors/version"
)

// ownMetrics returns the metrics of the serving process itself. They come from memory
// and /proc, so gathering does not wait.
func ownMetrics(o Options) (*prometheus.Registry, *prometheus.CounterVec) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vitals_http_requests_total",
		Help: "Requests answered, by the path's pattern and the status code.",
	}, []string{"path", "code"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		requests,
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "vitals_log_dropped_lines_total",
			Help: "Lines of the log that were dropped, because their reader is slow or gone.",
		}, func() float64 { return float64(o.DroppedLogLines()) }),
		newSocketMetric(o.UnixSocket),
		newStorageMetric(o.Storage),
		newConnectionMetrics(o.Connections),
		newReportMetrics(o.KubernetesReports),
		newNotificationMetrics(o.Notifications),
		version.NewCollector("vitals"),
		promcollectors.NewGoCollector(),
		promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}),
	)
	return registry, requests
}

// counted sets the header with the generation and returns a writer that counts the
// response under pattern, which is one of a closed set.
func (s *Server) counted(w http.ResponseWriter, v *view, pattern string) http.ResponseWriter {
	w.Header()[generationHeader] = v.generation
	return &countedWriter{ResponseWriter: w, count: func(code int) {
		s.requests.WithLabelValues(pattern, strconv.Itoa(code)).Inc()
	}}
}

// countedWriter counts the first status code that is written.
type countedWriter struct {
	http.ResponseWriter
	count func(code int)
	done  bool
}

// WriteHeader counts the code, unless it is an informational one.
func (w *countedWriter) WriteHeader(code int) {
	if !w.done && code >= http.StatusOK {
		w.done = true
		w.count(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write counts a 200 if no other code was written before.
func (w *countedWriter) Write(p []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController, and http.MaxBytesReader, the writer of the connection.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
