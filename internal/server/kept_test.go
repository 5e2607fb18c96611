package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// The whole responses, which the OpenAPI document describes.
func TestWholeResponses(t *testing.T) {
	o := fixed(grouped())
	o.History = past()
	o.Now = func() time.Time { return noon().Add(61 * time.Second) }
	h := server.New(o).Handler()
	for file, target := range map[string]string{
		"verdict.json":              "/api/v1/verdict/ready",
		"verdict_ok.json":           "/api/v1/verdict/alive",
		"events.json":               "/api/v1/events",
		"events_none.json":          "/api/v1/events?state=missing",
		"history.json":              "/api/v1/history",
		"rules_without_alerts.json": "/api/v1/rules?exclude_alerts=1&rule_group[]=trial",
		"rules_error.json":          "/api/v1/rules?type=x",
	} {
		r := request(t, h, http.MethodGet, target, "")
		body := text(t, r)
		golden(t, file, body)
	}
}

// The whole responses to a page that has no status, and to one that has that of before.
func TestWholeResponsesOfChanges(t *testing.T) {
	p := newPublisher(silenced())
	h := server.New(p.options()).Handler()
	get := func(target string) string { return text(t, request(t, h, http.MethodGet, target, "")) }
	keep := func(file, target string) {
		t.Helper()
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(get(target)), "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.String())
	}
	keep("changes_complete.json", "/api/v1/status?changes=")
	next := later(silenced())
	next.Rules[2].Status, next.Collectors[1].Success = evaluator.Failing, false
	p.publish(next)
	keep("changes.json", fmt.Sprintf("/api/v1/status?changes=%s&wait=%d", next.Started.UTC().Format(time.RFC3339Nano), next.Generation-1))
}

// The whole responses about silences and maintenance.
func TestWholeResponsesOfOverrides(t *testing.T) {
	o := fixed(silenced())
	o.Overrides, o.OperatorToken = &operated{}, func() string { return "token" }
	o.Stored = func() bool { return false }
	h := server.New(o).Handler()
	for _, tt := range []struct{ file, method, target, body string }{
		{"silences.json", http.MethodGet, "/api/v1/silences", ""},
		{"maintenance.json", http.MethodGet, "/api/v1/maintenance", ""},
		{"silence.json", http.MethodPut, "/api/v1/silences/KeystoneDown", `{"for": "2h", "reason": "upgrade"}`},
		{"maintenance_of_ready.json", http.MethodPut, "/api/v1/maintenance/ready", `{"reason": "drain"}`},
		{"not_stored.json", http.MethodDelete, "/api/v1/maintenance/ready", ""},
	} {
		r := request(t, h, tt.method, tt.target, tt.body, "Authorization", "Bearer token")
		body := text(t, r)
		golden(t, tt.file, body)
	}
}
