package openstack

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// requestTimeout bounds a request without a deadline, because some calls of gophercloud
	// have no context. It is longer than a collection.
	requestTimeout = time.Minute
	// dialTimeout bounds a connection attempt and a TLS handshake, which continue in the
	// background after their request was cancelled.
	dialTimeout = 10 * time.Second
	// bodyLimit bounds the body of a response, in bytes: a hundred times the service
	// catalog of a large cloud.
	bodyLimit = 4 << 20
	// headerLimit bounds the headers of a response, in bytes. The largest tokens, PKI
	// tokens, have less than 64 KiB.
	headerLimit = 256 << 10
	// drain bounds the bytes that are read after the end of the JSON, so that the connection
	// can be reused.
	drain = 4 << 10
)

var errBodyTooLarge = errors.New("the response is larger than 4 MiB")

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// newClient returns the HTTP client of one login. It keeps idle connections and uses the proxy of
// the environment. It follows redirects within the same host only. It uses HTTP/1.1 only: a frozen HTTP/2 connection would be reused until TCP closes it.
func newClient(config *tls.Config, dial dial) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &transport{&http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            panics.Dial(dial),
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    dialTimeout,
			Protocols:              protocols,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: headerLimit,
		}},
		CheckRedirect: remote.FollowSameHost,
	}
}

// dialTCP is the dial function outside of tests.
func dialTCP(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(ctx, network, address)
}

// transport bounds the body of every response, because gophercloud reads those of errors whole.
type transport struct{ next *http.Transport }

// RoundTrip implements http.RoundTripper. It marks the request for a token as idempotent: if a
// server, such as uWSGI, closes the idle connection at that moment, net/http retries on a new one
// (RFC 9110, section 9.2.2; the empty key is not sent).
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		r = r.Clone(r.Context())
		r.Header["Idempotency-Key"] = []string{}
	}
	traced, lookup := remote.TraceLookup(r.Context())
	response, err := t.next.RoundTrip(r.WithContext(traced))
	noteExpiry(r.Context(), response, err)
	if err != nil {
		return nil, lookup.Cause(err)
	}
	response.Body = &body{body: response.Body, left: bodyLimit}
	return response, nil
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// body is a response body that fails with errBodyTooLarge after left bytes.
type body struct {
	body io.ReadCloser
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBodyTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	return n, err
}

// Close reads the rest of a body after its JSON, usually the end of a chunked body, because net/http
// reuses a connection only after the end of the response.
func (b *body) Close() error {
	_, _ = io.CopyN(io.Discard, b.body, drain)
	return b.body.Close()
}
