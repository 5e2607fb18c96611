package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
)

func TestReasonOfTransport(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("get: %w", &url.Error{Op: "Get", URL: "http://x", Err: err}) }
	for _, c := range []struct {
		name  string
		given error
		want  Reason
	}{
		{"nothing failed", nil, ""},
		{"no such host", wrap(&net.DNSError{IsNotFound: true}), ReasonDNS},
		{"the resolver does not answer", wrap(&net.DNSError{IsTimeout: true}), ReasonDNS},
		{"deadline of the context", wrap(context.DeadlineExceeded), ReasonTimeout},
		{"deadline of a connection", wrap(os.ErrDeadlineExceeded), ReasonTimeout},
		{"timeout of the kernel", wrap(syscall.ETIMEDOUT), ReasonTimeout},
		{"no listener", wrap(syscall.ECONNREFUSED), ReasonRefused},
		{"no route", wrap(syscall.EHOSTUNREACH), ReasonRefused},
		{"no socket file", wrap(os.ErrNotExist), ReasonRefused},
		{"empty reply", wrap(io.EOF), ReasonProtocol},
		{"connection reset", wrap(syscall.ECONNRESET), ReasonProtocol},
		{"plain HTTP behind https", wrap(http.ErrSchemeMismatch), ReasonTLS},
		{"plain bytes behind TLS", wrap(tls.RecordHeaderError{}), ReasonTLS},
		{"anything else", errors.New("odd"), ReasonProtocol},
	} {
		if got := ReasonOfTransport(c.given); got != c.want {
			t.Errorf("%s: ReasonOfTransport(%v) = %q, want %q", c.name, c.given, got, c.want)
		}
	}
}

func TestReasonOfHandshake(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()

	trusting := server.Client() // it presents no certificate
	if _, err := trusting.Get(server.URL); ReasonOfTransport(err) != ReasonTLS {
		t.Errorf("ReasonOfTransport(%v) = %q, want %q: the server requires a certificate", err, ReasonOfTransport(err), ReasonTLS)
	}
	untrusting := &http.Client{Transport: &http.Transport{}}
	defer untrusting.CloseIdleConnections()
	if _, err := untrusting.Get(server.URL); ReasonOfTransport(err) != ReasonTLS {
		t.Errorf("ReasonOfTransport(%v) = %q, want %q: the authority is unknown", err, ReasonOfTransport(err), ReasonTLS)
	}
}

func TestReasonOfStatus(t *testing.T) {
	for status, want := range map[int]Reason{
		200: "", 204: "", 302: "", 100: ReasonProtocol, 400: ReasonClientError, 401: ReasonAuth, 403: ReasonForbidden,
		404: ReasonNotFound, 409: ReasonClientError, 429: ReasonClientError, 500: ReasonServerError, 503: ReasonServerError,
	} {
		if got := ReasonOfStatus(status); got != want {
			t.Errorf("ReasonOfStatus(%d) = %q, want %q", status, got, want)
		}
	}
}

func TestDependencyIsAStateSet(t *testing.T) {
	for _, reason := range append([]Reason{""}, Reasons()...) {
		var b collectors.Batch
		AddDependency(&b, "d", 0, reason)
		got := map[string]float64{}
		for _, s := range b.Samples {
			got[s.Labels.Get(model.MetricNameLabel)+s.Labels.Get("reason")] = s.Value
		}
		want := map[string]float64{"vitals_dependency_up": collectors.Number(reason == "")}
		for _, r := range Reasons() {
			want["vitals_dependency_failure"+string(r)] = collectors.Number(r == reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("AddDependency(%q) differs (-want +got):\n%s", reason, diff)
		}
	}
}
