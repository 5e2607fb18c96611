package server_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// Scrapes of a generation share what was rendered and packed for the first. The process'
// own metrics are at most a second old, also where generations are rare.
func TestScrapesShareAResponse(t *testing.T) {
	snap, now := healthy(), noon()
	var gathered atomic.Uint64
	o := fixed(snap)
	o.Snapshot = func() *evaluator.Snapshot { return snap }
	o.Now = func() time.Time { return now }
	o.DroppedLogLines = func() uint64 { return gathered.Add(1) }
	h := server.New(o).Handler()
	scrapes := func(want uint64, headers ...string) {
		t.Helper()
		var all sync.WaitGroup
		for range 8 { // as many as may be in flight
			all.Go(func() {
				if r := request(t, h, http.MethodGet, "/metrics", "", headers...); r.StatusCode != http.StatusOK {
					t.Errorf("GET /metrics = %d, want 200", r.StatusCode)
				}
			})
		}
		all.Wait()
		if got := gathered.Load(); got != want {
			t.Errorf("the metrics were gathered %d times, want %d", got, want)
		}
	}
	scrapes(1)
	scrapes(1, "Accept-Encoding", "gzip")
	scrapes(2, "Accept", acceptOpenMetrics)
	scrapes(2, "Accept", acceptOpenMetrics, "Accept-Encoding", "gzip")
	now = now.Add(time.Second - 1)
	scrapes(2)
	now = now.Add(1)
	scrapes(3)
	now = now.Add(-time.Minute) // a step of the clock
	scrapes(4)
	snap = failing()
	scrapes(5)
	if body := text(t, request(t, h, http.MethodGet, "/metrics", "")); !strings.Contains(body, "vitals_log_dropped_lines_total 5\n") {
		t.Errorf("GET /metrics = %s, want vitals_log_dropped_lines_total 5 of the last time", body)
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	o := fixed(healthy())
	o.Connections = func() []server.Connections { return []server.Connections{{Listener: "web", Open: 3, Evicted: 2}} }
	got := parse(t, text(t, request(t, server.New(o).Handler(), http.MethodGet, "/metrics", "")), "text/plain; version=0.0.4")
	for series, want := range map[string]float64{
		`{__name__="vitals_http_connections", listener="web"}`:               3,
		`{__name__="vitals_http_connections_evicted_total", listener="web"}`: 2,
	} {
		if n, ok := got[series]; !ok || n != want {
			t.Errorf("%s = %v (found: %t), want %v", series, n, ok, want)
		}
	}
}

func TestReportsToKubernetesAreCounted(t *testing.T) {
	o := fixed(healthy())
	o.KubernetesReports = func() server.KubernetesReports {
		return server.KubernetesReports{Events: true, Dropped: 3, Rights: []server.ReportRight{
			{Verb: "create", Resource: "events", Requested: true, Success: true}, {Verb: "patch", Resource: "events"},
			{Verb: "patch", Resource: "pods/status", Requested: true, Failures: 2},
		}}
	}
	body := text(t, request(t, server.New(o).Handler(), http.MethodGet, "/metrics", ""))
	var got []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "vitals_kubernetes_report_") {
			got = append(got, line)
		}
	}
	want := `vitals_kubernetes_report_dropped_events_total 3
vitals_kubernetes_report_failures_total{resource="events",verb="create"} 0
vitals_kubernetes_report_failures_total{resource="events",verb="patch"} 0
vitals_kubernetes_report_failures_total{resource="pods/status",verb="patch"} 2
vitals_kubernetes_report_success{resource="events",verb="create"} 1
vitals_kubernetes_report_success{resource="pods/status",verb="patch"} 0
`
	if strings.Join(got, "") != want {
		t.Errorf("GET /metrics has\n%s, want\n%s", strings.Join(got, ""), want)
	}
}

func TestNotificationsAreCounted(t *testing.T) {
	o := fixed(healthy())
	o.Notifications = func() []server.Notifications {
		return []server.Notifications{
			{Alertmanager: "http://a:9093", Requested: true, Success: true, Sent: 7, Errors: 2, Dropped: 1, Requests: 3, Took: 1500 * time.Millisecond, Waiting: 4, Capacity: 9},
			{Alertmanager: "http://b:9093"},
		}
	}
	var got []string
	for line := range strings.Lines(text(t, request(t, server.New(o).Handler(), http.MethodGet, "/metrics", ""))) {
		if strings.HasPrefix(line, "vitals_notifications_") {
			got = append(got, line)
		}
	}
	want := `vitals_notifications_dropped_total{alertmanager="http://a:9093"} 1
vitals_notifications_dropped_total{alertmanager="http://b:9093"} 0
vitals_notifications_errors_total{alertmanager="http://a:9093"} 2
vitals_notifications_errors_total{alertmanager="http://b:9093"} 0
vitals_notifications_latency_seconds_sum{alertmanager="http://a:9093"} 1.5
vitals_notifications_latency_seconds_count{alertmanager="http://a:9093"} 3
vitals_notifications_latency_seconds_sum{alertmanager="http://b:9093"} 0
vitals_notifications_latency_seconds_count{alertmanager="http://b:9093"} 0
vitals_notifications_queue_capacity{alertmanager="http://a:9093"} 9
vitals_notifications_queue_capacity{alertmanager="http://b:9093"} 0
vitals_notifications_queue_length{alertmanager="http://a:9093"} 4
vitals_notifications_queue_length{alertmanager="http://b:9093"} 0
vitals_notifications_sent_total{alertmanager="http://a:9093"} 7
vitals_notifications_sent_total{alertmanager="http://b:9093"} 0
vitals_notifications_success{alertmanager="http://a:9093"} 1
`
	if strings.Join(got, "") != want {
		t.Errorf("GET /metrics has\n%s, want\n%s", strings.Join(got, ""), want)
	}
}
