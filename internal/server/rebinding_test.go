package server_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/server"
)

// A page of another site whose name resolves to this server has the same origin for the
// browser. Its requests have that name as Host.
func TestRebindingIsRefused(t *testing.T) {
	const refused = "requests under this name are not allowed here: use an address, localhost or HTTPS, or allow the name with --web.allowed-host=NAME or Options.AllowedHosts\n"
	tests := []struct {
		name, method, path, host, origin string
		tls                              bool
		code                             int
	}{
		{"a name that resolves to this server", "POST", "/-/reload", "evil.example:8080", "http://evil.example:8080", false, 403},
		{"any path", "PUT", "/api/v1/components/watcher", "evil.example", "http://evil.example", false, 403},
		{"reading", "GET", "/api/v1/status", "evil.example", "http://evil.example", false, 403},
		{"reading its own server, without an Origin", "GET", "/api/v1/status", "evil.example:8080", "", false, 403},
		{"the configuration", "GET", "/config", "evil.example:8080", "", false, 403},
		{"the page", "GET", "/", "evil.example:8080", "", false, 403},
		{"the events", "GET", "/api/v1/events", "evil.example:8080", "", false, 403},
		{"an explanation", "GET", "/api/v1/explain/ready", "evil.example:8080", "", false, 403},
		{"HTTP/1.0 without Host", "GET", "/config", "", "", false, 200},
		{"almost a service", "GET", "/config", "vitals.svc.evil.example", "", false, 403},
		{"almost below an allowed name", "GET", "/config", "a.evilmonitoring", "", false, 403},
		{"an IPv4 address", "GET", "/config", "127.0.0.1:8080", "", false, 200},
		{"an IPv6 address", "GET", "/config", "[::1]:8080", "", false, 200},
		{"localhost, as of kubectl port-forward", "GET", "/config", "localhost:8080", "", false, 200},
		{"the name of the machine", "GET", "/config", "node1:8080", "", false, 200},
		{"a name without a dot", "GET", "/config", "vitals:8080", "", false, 200},
		{"SERVICE.NAMESPACE", "GET", "/config", "vitals.monitoring:8080", "", false, 200},
		{"SERVICE.NAMESPACE.svc", "GET", "/config", "vitals.monitoring.svc:8080", "", false, 200},
		{"the whole name of a service", "GET", "/config", "vitals.monitoring.svc.cluster.local.", "", false, 200},
		{"an allowed name", "GET", "/config", "Vitals.Example.org", "", false, 200},
		{"HTTPS", "GET", "/config", "evil.example", "", true, 200},
		{"a probe", "GET", "/alive?verbose", "evil.example", "", false, 200},
		{"an alias of a probe", "GET", "/livez", "evil.example", "", false, 200},
		{"the process", "GET", "/-/healthy", "evil.example", "", false, 200},
		{"the process", "GET", "/-/ready", "", "", false, 200},
		{"an exec probe", "GET", "/api/v1/verdict/ready", "evil.example", "", false, 200},
		{"a badge", "GET", "/badge/ready.svg", "evil.example", "", false, 200},
		{"Prometheus by any name", "GET", "/metrics", "evil.example", "", false, 200},
		{"Prometheus by any name", "GET", "/metrics/slis", "", "", false, 200},
		{"a path that does not exist", "POST", "/nothing", "evil.example", "http://evil.example", false, 403},
		{"a page without an origin", "POST", "/-/reload", "evil.example", "null", false, 403},
		{"an empty Host", "POST", "/-/reload", "", "http://evil.example", false, 403},
		{"almost an address", "POST", "/-/reload", "127.0.0.1.evil.example", "http://127.0.0.1.evil.example", false, 403},
		{"almost localhost", "POST", "/-/reload", "evillocalhost.example:80", "http://evillocalhost.example:80", false, 403},
		{"localhost in front", "POST", "/-/reload", "localhost.evil.example", "http://localhost.evil.example", false, 403},
		{"a user in front", "POST", "/-/reload", "localhost@evil.example", "http://evil.example", false, 403},
		{"an IPv4 address", "POST", "/-/reload", "127.0.0.1:8080", "http://127.0.0.1:8080", false, 200},
		{"an IPv6 address", "POST", "/-/reload", "[::1]:8080", "http://[::1]:8080", false, 200},
		{"an IPv6 address without a port", "POST", "/-/reload", "[2001:db8::1]", "http://[2001:db8::1]", false, 200},
		{"localhost", "POST", "/-/reload", "LocalHost:8080", "http://LocalHost:8080", false, 200},
		{"below localhost", "POST", "/-/reload", "vitals.localhost.", "http://vitals.localhost.", false, 200},
		{"the expected name", "POST", "/-/reload", "Node1:8080", "http://Node1:8080", false, 200},
		{"HTTPS, where the certificate proves the name", "POST", "/-/reload", "vitals.example", "https://vitals.example", true, 200},
		{"no page", "POST", "/-/reload", "vitals.monitoring.svc:8080", "", false, 200},
		{"Prometheus by a name", "GET", "/metrics", "vitals.monitoring.svc:8080", "", false, 200},
		{"a probe", "GET", "/ready", "evil.example", "http://evil.example", false, 200},
		{"another site", "POST", "/-/reload", "127.0.0.1:8080", "http://evil.example", false, 403},
	}
	for _, tt := range tests {
		done := 0
		o := fixed(healthy())
		o.Hosts = []string{"", "node1", ".monitoring", "vitals.example.org"}
		o.Config = func() []byte { return nil }
		o.Reload = func() error { done++; return nil }
		o.History = past()
		r := httptest.NewRequest(tt.method, "http://x"+tt.path, http.NoBody)
		r.Host = tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		if tt.tls {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		server.New(o).Handler().ServeHTTP(w, r)
		body := text(t, w.Result())
		if w.Code != tt.code || done > 0 && tt.code != 200 {
			t.Errorf("%s: %s %s with Host %s = %d %q, want %d", tt.name, tt.method, tt.path, tt.host, w.Code, body, tt.code)
		}
		if tt.code == 403 && tt.name != "another site" && body != refused {
			t.Errorf("%s: body = %q, want %q", tt.name, body, refused)
		}
	}
}

// Browsers do not reach the Unix socket: its Host is what a client makes up.
func TestRebindingOverTheUnixSocket(t *testing.T) {
	o := fixed(healthy())
	o.Reload = func() error { return nil }
	r := httptest.NewRequest("POST", "http://vitals.test/-/reload", http.NoBody)
	r.Header.Set("Origin", "http://vitals.test")
	w := httptest.NewRecorder()
	if server.New(o).Local(allowAll).ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("over the Unix socket = %d, want 200", w.Code)
	}
}

// The page begins silences over a Unix socket that ssh forwards to a browser.
func TestRebindingOfOverridesOverTheUnixSocket(t *testing.T) {
	for _, tt := range []struct {
		host, origin string
		code         int
	}{
		{"localhost:8080", "http://localhost:8080", 200},
		{"localhost:8080", "http://evil.example", 403},
		{"evil.example:8080", "http://evil.example:8080", 403},
		{"vitals", "", 200},
	} {
		s, taken := operating("")
		r := httptest.NewRequest(http.MethodPut, "http://x/api/v1/silences/KeystoneDown", strings.NewReader(`{"for": "2h"}`))
		r.Host = tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		w := httptest.NewRecorder()
		s.Local(allowAll).ServeHTTP(w, r)
		if w.Code != tt.code || len(taken.calls) > 0 != (tt.code == 200) {
			t.Errorf("Host %s, Origin %q = %d with %d silences, want %d", tt.host, tt.origin, w.Code, len(taken.calls), tt.code)
		}
	}
}

// Without Hosts, the server checks names as well. "*" allows all.
func TestHostsThatAllowEveryName(t *testing.T) {
	for _, tt := range []struct {
		hosts []string
		code  int
	}{{nil, 403}, {[]string{"*"}, 200}} {
		o := fixed(healthy())
		o.Hosts = tt.hosts
		r := httptest.NewRequest("GET", "http://any.example/api/v1/status", http.NoBody)
		w := httptest.NewRecorder()
		if server.New(o).Handler().ServeHTTP(w, r); w.Code != tt.code {
			t.Errorf("with the hosts %q, GET = %d, want %d", tt.hosts, w.Code, tt.code)
		}
	}
}
