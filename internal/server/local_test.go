package server_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/server"
)

// Over the Unix socket everybody who can connect may read, and some may write.
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
	asked := 0
	refuse := func(r *http.Request) error { asked++; return errors.New("the user 7 may not:\nbe root") }
	tests := []struct {
		method, path string
		// refused says whether the request would write.
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
		done, asked = 0, 0
		r := ask(t, s.Local(refuse), tt.method, tt.path, "{}")
		body := text(t, r)
		if tt.refused && (r.StatusCode != 403 || body != "the user 7 may not: be root\n" || done != 0 || asked != 1) {
			t.Errorf("%s %s = %d %q, done %d times, asked %d times, want 403, the reason and nothing done", tt.method, tt.path, r.StatusCode, body, done, asked)
		}
		if !tt.refused && (r.StatusCode != tt.code || asked != 0) {
			t.Errorf("%s %s = %d, asked %d times, want %d without a question", tt.method, tt.path, r.StatusCode, asked, tt.code)
		}
		if r := ask(t, s.Local(everybody), tt.method, tt.path, "{}"); r.StatusCode != tt.code || tt.refused && done != 1 {
			t.Errorf("%s %s by one who may = %d, done %d times, want %d", tt.method, tt.path, r.StatusCode, done, tt.code)
		}
	}
}
