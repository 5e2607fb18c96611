package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/connlimit"
	"github.com/vitals-health/vitals/internal/server/limits"
)

// serve starts a server with all limits on loopback and returns its URL.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	most, err := connlimit.LimitsOf(1, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	pool, srv := connlimit.New(1, most)[0], limits.HTTPServer(h)
	srv.ConnState = pool.Track
	return serveOn(t, pool.Listen(loopback(t)), srv)
}

// serveWith starts a server without a limit for its connections.
func serveWith(t testing.TB, srv *http.Server) string {
	t.Helper()
	return serveOn(t, loopback(t), srv)
}

func loopback(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func serveOn(t testing.TB, l net.Listener, srv *http.Server) string {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); err != http.ErrServerClosed {
			t.Errorf("serve: %v", err)
		}
	}()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
		<-done
	})
	return "http://" + l.Addr().String()
}

// reply is what a test compares of a response.
type reply struct {
	code       int
	kind, body string
	length     int64
}

// fetch sends a request on a new connection.
func fetch(t testing.TB, method, url string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header.Get("Content-Type"), string(body), resp.ContentLength}
}
