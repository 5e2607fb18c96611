package server_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/server"
)

// Over the Unix socket every client can read, and some can write.
func TestLocalWrites(t *testing.T) {
	done := 0
	o := fixed(healthy())
	o.Report = func(string, collectors.Report) error { done++; return nil }
	o.Reload = func() error { done++; return nil }
	o.ExternalExtra = map[string]http.Handler{"/demo/faults": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			done++
		}
	})}
	checks := 0
	refuse := func(r *http.Request) error { checks++; return errors.New("the user 7 may not:\nbe root") }
	tests := []struct {
		method, path string
		// refused is set if the request would write.
		refused bool
		code    int
	}{
		{"PUT", "/api/v1/components/watcher", true, 204},
		{"POST", "/-/reload", true, 200},
		{"PUT", "/-/reload", true, 200},
		{"POST", "/demo/faults", true, 200},
		{"GET", "/demo/faults", false, 200},
		{"GET", "/ready", false, 200},
		{"HEAD", "/api/v1/status", false, 200},
		{"GET", "/api/v1/verdict/ready", false, 200},
		{"POST", "/ready", false, 405},
		{"GET", "/-/reload", false, 405},
	}
	s := server.New(o)
	for _, tt := range tests {
		done, checks = 0, 0
		r := request(t, s.Local(refuse), tt.method, tt.path, "{}")
		body := text(t, r)
		if tt.refused && (r.StatusCode != 403 || body != "the user 7 may not: be root\n" || done != 0 || checks != 1) {
			t.Errorf("%s %s = %d %q, done %d times, %d checks, want 403, the reason and nothing done", tt.method, tt.path, r.StatusCode, body, done, checks)
		}
		if !tt.refused && (r.StatusCode != tt.code || checks != 0) {
			t.Errorf("%s %s = %d, %d checks, want %d without a call", tt.method, tt.path, r.StatusCode, checks, tt.code)
		}
		if r := request(t, s.Local(allowAll), tt.method, tt.path, "{}"); r.StatusCode != tt.code || tt.refused && done != 1 {
			t.Errorf("%s %s with the permission to write = %d, done %d times, want %d", tt.method, tt.path, r.StatusCode, done, tt.code)
		}
	}
}
