package ownmetrics

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// newRequests returns the metric of the requests.
func newRequests() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vitals_http_requests_total",
		Help: "Requests answered, by the path's pattern and the status code.",
	}, []string{"path", "code"})
}

// Counter counts the responses of a status code under a pattern of paths, which is one of a closed
// set.
func (m *Metrics) Counter(pattern string, code int) prometheus.Counter {
	return m.requests.WithLabelValues(pattern, strconv.Itoa(code))
}

// Counted returns a writer that counts the response under a pattern, which is one of a closed set.
func (m *Metrics) Counted(w http.ResponseWriter, pattern string) http.ResponseWriter {
	return &countedWriter{ResponseWriter: w, count: func(code int) { m.Counter(pattern, code).Inc() }}
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
