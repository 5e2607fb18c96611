package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server"
)

// unread is the response to a client that does not read: Write blocks until release closes.
type unread struct {
	*httptest.ResponseRecorder
	writes  chan<- struct{}
	release <-chan struct{}
}

func (u unread) Write(p []byte) (int, error) {
	u.writes <- struct{}{}
	<-u.release
	return u.ResponseRecorder.Write(p)
}

// hold starts n requests whose clients do not read. They end when the test calls the
// function that it returns.
func hold(h http.Handler, method, target string, n int) (release func()) {
	writes, released := make(chan struct{}, n), make(chan struct{})
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			r := httptest.NewRequest(method, "http://127.0.0.1"+target, http.NoBody)
			h.ServeHTTP(unread{httptest.NewRecorder(), writes, released}, r)
		})
	}
	for range n {
		<-writes
	}
	return func() {
		close(released)
		all.Wait()
	}
}

// Clients that do not read, however many, hold a bounded number of responses in memory.
// They never keep probes away, nor the clients of the Unix socket.
func TestRequestsInFlightAreBounded(t *testing.T) {
	o, now := fixed(healthy()), noon()
	o.Now = func() time.Time { return now }
	o.Reload = func() error { return nil }
	o.Config = func() []byte { return []byte("a: b\n") }
	o.Explain = func(context.Context, string, explain.Options, time.Time) (*explain.Explanation, error) {
		return &explain.Explanation{Generation: 7}, nil
	}
	for _, tt := range []struct {
		method, target, pattern string
		limit, code             int
	}{
		{"GET", "/metrics", "/metrics", 8, 200},
		{"GET", "/metrics/slis", "/metrics/slis", 8, 200},
		{"GET", "/config", "/config", 8, 200},
		{"GET", "/api/v1/rules", "/api/v1/rules", 8, 200},
		{"GET", "/api/v1/alerts", "/api/v1/alerts", 8, 200},
		{"GET", "/api/v1/explain/ready", "/api/v1/explain/STATE", 8, 200},
		{"POST", "/-/reload", "/-/reload", 4, 200},
		{"PUT", "/api/v1/components/watcher", "/api/v1/components/NAME", 32, 404},
		{"GET", "/api/v1/status", "/api/v1/status", 80, 200},
	} {
		now = noon()
		s := server.New(o)
		h, local := s.Handler(), s.Local(allowAll)
		release := hold(h, tt.method, tt.target, tt.limit)
		r := request(t, h, tt.method, tt.target, "")
		want := fmt.Sprintf("too many requests for %s are in flight: at most %d\n", tt.pattern, tt.limit)
		if body := text(t, r); r.StatusCode != 503 || body != want || r.Header.Get("Retry-After") != "1" {
			t.Errorf("%s after %d = %d %q, Retry-After %q, want 503 %q and 1", tt.target, tt.limit, r.StatusCode, body, r.Header.Get("Retry-After"), want)
		}
		for _, probe := range []string{"/ready", "/alive?verbose", "/ready/KeystoneDown", "/-/healthy", "/-/ready", "/api/v1/verdict/ready"} {
			if r := request(t, h, "GET", probe, ""); r.StatusCode != 200 {
				t.Errorf("while %s is full, %s = %d, want 200", tt.target, probe, r.StatusCode)
			}
		}
		if r := request(t, local, tt.method, tt.target, ""); r.StatusCode != tt.code {
			t.Errorf("while %s is full, it is %d over the Unix socket, want %d", tt.target, r.StatusCode, tt.code)
		}
		release()
		if r := request(t, h, tt.method, tt.target, ""); r.StatusCode != tt.code {
			t.Errorf("%s after the others ended = %d, want %d", tt.target, r.StatusCode, tt.code)
		}
		now = now.Add(time.Second) // until then, scrapes share a response
		line := fmt.Sprintf("vitals_http_requests_total{code=\"503\",path=%q} 1\n", tt.pattern)
		if body := text(t, request(t, h, "GET", "/metrics", "")); !strings.Contains(body, line) {
			t.Errorf("/metrics does not have %s", line)
		}
	}
}

// Probes have no bound: the endpoints that kubelets and exec probes use stay open.
func TestProbesInFlightAreNotBounded(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	for _, probe := range []string{"/ready", "/alive?verbose", "/ready/KeystoneDown", "/-/healthy", "/-/ready", "/api/v1/verdict/ready"} {
		release := hold(h, "GET", probe, 200)
		if r := request(t, h, "GET", probe, ""); r.StatusCode != 200 {
			t.Errorf("%s after 200 that do not end = %d, want 200", probe, r.StatusCode)
		}
		release()
	}
}
