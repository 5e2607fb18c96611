package ownmetrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"

	"github.com/vitals-health/vitals/internal/server/ownmetrics"
)

// gathered returns the lines of the metrics whose names begin so, in the text format.
func gathered(t *testing.T, m *ownmetrics.Metrics, prefix string) string {
	t.Helper()
	families, err := m.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all, chosen strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&all, f); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(all.String()) {
		if strings.HasPrefix(line, prefix) {
			chosen.WriteString(line)
		}
	}
	return chosen.String()
}

func TestConnectionsAreCounted(t *testing.T) {
	m := ownmetrics.New(ownmetrics.Sources{Connections: func() []ownmetrics.Connections {
		return []ownmetrics.Connections{{Listener: "web", Open: 3, Evicted: 2}}
	}})
	want := `vitals_http_connections{listener="web"} 3
vitals_http_connections_evicted_total{listener="web"} 2
`
	if diff := cmp.Diff(want, gathered(t, m, "vitals_http_connections")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestReportsToKubernetesAreCounted(t *testing.T) {
	m := ownmetrics.New(ownmetrics.Sources{KubernetesReports: func() ownmetrics.KubernetesReports {
		return ownmetrics.KubernetesReports{Events: true, Dropped: 3, Rights: []ownmetrics.ReportRight{
			{Verb: "create", Resource: "events", Requested: true, Success: true}, {Verb: "patch", Resource: "events"},
			{Verb: "patch", Resource: "pods/status", Requested: true, Failures: 2},
		}}
	}})
	want := `vitals_kubernetes_report_dropped_events_total 3
vitals_kubernetes_report_failures_total{resource="events",verb="create"} 0
vitals_kubernetes_report_failures_total{resource="events",verb="patch"} 0
vitals_kubernetes_report_failures_total{resource="pods/status",verb="patch"} 2
vitals_kubernetes_report_success{resource="events",verb="create"} 1
vitals_kubernetes_report_success{resource="pods/status",verb="patch"} 0
`
	if diff := cmp.Diff(want, gathered(t, m, "vitals_kubernetes_report_")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestNotificationsAreCounted(t *testing.T) {
	m := ownmetrics.New(ownmetrics.Sources{Notifications: func() []ownmetrics.Notifications {
		return []ownmetrics.Notifications{
			{Alertmanager: "http://a:9093", Requested: true, Success: true, Sent: 7, Errors: 2, Dropped: 1, Requests: 3, Took: 1500 * time.Millisecond, Waiting: 4, Capacity: 9},
			{Alertmanager: "http://b:9093"},
		}
	}})
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
	if diff := cmp.Diff(want, gathered(t, m, "vitals_notifications_")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// A gauge of what a process does not have is absent. Otherwise it is 1 or 0.
func TestOptionalGauges(t *testing.T) {
	for _, tt := range []struct {
		good, ok bool
		want     string
	}{
		{true, false, ""},
		{false, true, "vitals_storage_writable 0\n"},
		{true, true, "vitals_storage_writable 1\n"},
	} {
		m := ownmetrics.New(ownmetrics.Sources{Storage: func() (good, ok bool) { return tt.good, tt.ok }})
		if got := gathered(t, m, "vitals_storage_writable"); got != tt.want {
			t.Errorf("with %t, %t: metrics %q, want %q", tt.good, tt.ok, got, tt.want)
		}
	}
}

// A response counts once, with the first status code that is not informational.
func TestRequestsAreCounted(t *testing.T) {
	m := ownmetrics.New(ownmetrics.Sources{})
	w := m.Counted(httptest.NewRecorder(), "/a")
	w.WriteHeader(http.StatusEarlyHints)
	w.WriteHeader(http.StatusNotFound)
	w.WriteHeader(http.StatusInternalServerError)
	if _, err := m.Counted(httptest.NewRecorder(), "/a").Write(nil); err != nil {
		t.Fatal(err)
	}
	want := `vitals_http_requests_total{code="200",path="/a"} 1
vitals_http_requests_total{code="404",path="/a"} 1
`
	if diff := cmp.Diff(want, gathered(t, m, "vitals_http_requests_total")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
