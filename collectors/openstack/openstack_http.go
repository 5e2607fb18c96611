package openstack

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// requestTimeout bounds one request whatever its context says:
	// gophercloud has calls without a context, and a client without a timeout
	// waits for ever. No round is meant to take that long.
	requestTimeout = time.Minute
	// dialTimeout bounds connecting and the TLS handshake, which go on in
	// the background after the request that wanted them has given up.
	dialTimeout = 10 * time.Second
	// bodyLimit is the size of an answer that is still read, in bytes: a
	// hundred times the service catalog of a large cloud.
	bodyLimit = 4 << 20
	// headerLimit bounds an answer's headers, in bytes; the largest tokens
	// ever used, PKI tokens, are below 64 KiB.
	headerLimit = 256 << 10
	// drain is how much of an answer is read after its JSON has ended, in
	// bytes, so that the connection can be used again.
	drain = 4 << 10
)

var errOpenStackBody = errors.New("the answer is larger than 4 MiB")

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// newOpenStackClient makes the HTTP client of one login. It keeps idle connections,
// takes the proxy from the environment as Go programs do, does not follow
// redirects, which would carry the token to another host, and speaks HTTP/1.1 only:
// a frozen HTTP/2 connection is used again and again until TCP gives it up.
func newOpenStackClient(config *tls.Config, dial dial) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &transport{&http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            dial,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    dialTimeout,
			Protocols:              protocols,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: headerLimit,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dialOpenStack is the dial outside of tests.
func dialOpenStack(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(ctx, network, address)
}

// transport bounds what is read of every answer, errors included, which
// gophercloud reads whole.
type transport struct{ next *http.Transport }

// RoundTrip sends the request. One that asks for a token counts as idempotent: if
// a server has closed an idle connection just then, as uWSGI does, net/http tries
// it again on a new one (RFC 9110, section 9.2.2; the empty key is not sent).
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		r = r.Clone(r.Context())
		r.Header["Idempotency-Key"] = []string{}
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &body{body: response.Body, left: bodyLimit}
	return response, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (t *transport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// body fails with errOpenStackBody once left bytes have been read.
type body struct {
	body io.ReadCloser
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errOpenStackBody
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	return n, err
}

// Close reads the little that a JSON decoder leaves, usually the end of a chunked
// body, because net/http reuses only connections whose answer was read to its end.
func (b *body) Close() error {
	_, _ = io.CopyN(io.Discard, b.body, drain)
	return b.body.Close()
}
