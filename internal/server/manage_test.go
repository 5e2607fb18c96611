package server_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

func TestManagement(t *testing.T) {
	starting, stopping := healthy(), failing()
	starting.States[2].Verdict = evaluator.Fail
	stopping.ShuttingDown = true
	ready := server.Options{
		Reload: func() error { return nil },
		Config: func() []byte { return []byte("password: <secret>\n") },
	}
	broken := server.Options{Reload: func() error { return errors.New("vitals.yml:3:1: unknown key \"x\"\nvitals.yml:4:1: more") }}
	const foreign = "cross-origin requests are not allowed here\n"
	tests := []struct {
		name, method, target string
		snap                 *evaluator.Snapshot
		options              server.Options
		origin               string
		code                 int
		body                 string
	}{
		{"healthy", "GET", "/-/healthy", failing(), ready, "", 200, "Vitals is healthy.\n"},
		{"ready although the workload is not", "GET", "/-/ready", failing(), ready, "", 200, "Vitals is ready.\n"},
		{"starting", "GET", "/-/ready", starting, ready, "", 503, "Vitals is starting.\n"},
		{"shutting down", "GET", "/-/ready", stopping, ready, "", 503, "Vitals is shutting down.\n"},
		{"reload", "POST", "/-/reload", healthy(), ready, "", 200, "The configuration was reloaded.\n"},
		{"reload with PUT", "PUT", "/-/reload", healthy(), ready, "", 200, "The configuration was reloaded.\n"},
		{"reload from the page", "POST", "/-/reload", healthy(), ready, "same-origin", 200, "The configuration was reloaded.\n"},
		{"reload from another page", "POST", "/-/reload", healthy(), ready, "cross-site", 403, foreign},
		{"reload of a bad file", "POST", "/-/reload", healthy(), broken, "", 500, "reload configuration: vitals.yml:3:1: unknown key \"x\" vitals.yml:4:1: more\n"},
		{"reload is off", "POST", "/-/reload", healthy(), server.Options{}, "", 403, "reload over HTTP is disabled: start vitals with --web.enable-lifecycle\n"},
		{"configuration", "GET", "/config", healthy(), ready, "", 200, "password: <secret>\n"},
		{"no configuration", "GET", "/config", healthy(), server.Options{}, "", 404, "this process has no configuration to show\n"},
	}
	for _, tt := range tests {
		o := fixed(tt.snap)
		o.Reload, o.Config = tt.options.Reload, tt.options.Config
		r := request(t, server.New(o).Handler(), tt.method, tt.target, "", "Sec-Fetch-Site", tt.origin)
		if body := text(t, r); r.StatusCode != tt.code || body != tt.body {
			t.Errorf("%s: %s %s = %d %q, want %d %q", tt.name, tt.method, tt.target, r.StatusCode, body, tt.code, tt.body)
		}
		kind := "text/plain; charset=utf-8"
		if tt.name == "configuration" {
			kind = "text/yaml; charset=utf-8"
		}
		checkHeaders(t, r, kind, len(tt.body))
	}
}

func TestExtraHandlers(t *testing.T) {
	o := fixed(healthy())
	o.ExternalExtra = map[string]http.Handler{"/demo/faults": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusNoContent)
		}
	})}
	s := server.New(o)
	tests := []struct {
		method, origin string
		code           int
	}{{"GET", "cross-site", 200}, {"POST", "same-origin", 204}, {"POST", "", 204}, {"POST", "cross-site", 403}}
	for _, tt := range tests {
		r := request(t, s.Handler(), tt.method, "/demo/faults", "", "Sec-Fetch-Site", tt.origin)
		if r.StatusCode != tt.code || r.Header.Get("X-Vitals-Generation") != "7" {
			t.Errorf("%s /demo/faults from %q = %d, want %d", tt.method, tt.origin, r.StatusCode, tt.code)
		}
	}
	if r := request(t, s.Probes(), "GET", "/demo/faults", ""); r.StatusCode != 404 {
		t.Errorf("probes: GET /demo/faults = %d, want 404", r.StatusCode)
	}
	if body := text(t, request(t, s.Handler(), "GET", "/nothing", "")); !strings.Contains(body, "/demo/faults") {
		t.Errorf("404 = %q, want it to name /demo/faults", body)
	}
}
