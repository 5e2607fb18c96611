package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/budget"
)

const (
	// bodyLimit bounds a response in bytes, and objectLimit one with a whole object: etcd
	// accepts 1.5 MiB, and the JSON form may be somewhat longer.
	bodyLimit   = 1 << 20
	objectLimit = 4 << 20
	// errorLimit bounds the response to a watch that is refused.
	errorLimit = 64 << 10
	// bodyFactor is what a response takes for each of its bytes: the buffer while it grows, and
	// the copy of a string.
	bodyFactor = 4
	// dialTimeout bounds a connection attempt. It equals client-go's limit for the TLS
	// handshake.
	dialTimeout = 10 * time.Second
)

// The requested representations. A watch needs the metadata only, which bounds the cost of
// large objects.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Metadata-only fetches".
const (
	anyJSON  = "application/json"
	metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json"
	metaList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
)

// client sends requests to one API server. It is safe for concurrent use.
type client struct {
	base *url.URL
	http *http.Client
	// bodies is that of Env.
	bodies *budget.Bodies
}

// newClient returns a client with its own connections: closing those that hang does not affect
// another client.
func newClient(config *rest.Config, bodies *budget.Bodies) (*client, error) {
	own := rest.CopyConfig(config)
	own.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	base, _, err := rest.DefaultServerUrlFor(own)
	if err != nil {
		return nil, fmt.Errorf("read the server's address: %w", err)
	}
	transport, err := rest.TransportFor(own)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection: %w", err)
	}
	if err := boundHeaders(transport); err != nil {
		return nil, fmt.Errorf("prepare the connection: %w", err)
	}
	return &client{base: base, http: &http.Client{Transport: transport, CheckRedirect: remote.FollowSameHost}, bodies: bodies}, nil
}

// boundHeaders bounds the headers of responses, for which client-go has no option. No other client has
// this transport, because the dial function is part of the key of client-go's cache.
func boundHeaders(transport http.RoundTripper) error {
	for {
		switch t := transport.(type) {
		case *http.Transport:
			t.MaxResponseHeaderBytes = remote.MaxHeader
			return nil
		case utilnet.RoundTripperWrapper:
			transport = t.WrappedRoundTripper()
		default:
			return fmt.Errorf("the headers of %T have no bound", t)
		}
	}
}

// closeIdle closes the idle connections, so that the next request opens a new one.
func (c *client) closeIdle() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// request is one request to the API server.
type request struct {
	path   string
	query  url.Values
	accept string
	// body is JSON, or of contentType. Without a method, it is POST with a body, else GET.
	body                []byte
	method, contentType string
	// limit bounds the response in bytes; zero means bodyLimit.
	limit int64
	// parse reads the body of a response with status 200 or 201. It must not keep it.
	parse func(body []byte) error
}

// response is a response with any status.
type response struct {
	status int
	took   time.Duration
	// expires is when the server's certificate expires, also if it was rejected; zero
	// without TLS.
	expires time.Time
}

// do sends a request, and reads and parses the response. For a status other than 200 and 201,
// it returns the response and an error.
func (c *client) do(ctx context.Context, r request) (response, error) {
	began := time.Now()
	res, err := c.open(ctx, r)
	if err != nil {
		return response{expires: expiryOfRejected(err)}, err
	}
	defer res.Body.Close()
	response := response{status: res.StatusCode, expires: expiry(res.TLS)}
	limit := cmp.Or(r.limit, bodyLimit)
	reserved := c.bodies.Reader(ctx, res.Body, bodyFactor)
	defer reserved.Release()
	body, err := io.ReadAll(io.LimitReader(reserved, limit+1))
	response.took = time.Since(began)
	switch {
	case int64(len(body)) > limit:
		return response, malformed(fmt.Errorf("longer than %d bytes", limit))
	case statusReason(res.StatusCode) != "":
		return response, errorOfResponse(res.StatusCode, body)
	case errors.Is(err, budget.ErrExceeded) && ctx.Err() == nil:
		return response, malformed(err)
	case err != nil:
		return response, fmt.Errorf("read the response: %w", cause(ctx, err))
	case r.parse != nil:
		return response, r.parse(body)
	}
	return response, nil
}

// open sends a request and returns after the headers of the response. The caller closes the
// body.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	u := c.base.JoinPath(r.path)
	u.RawQuery = r.query.Encode()
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.body)
	}
	method = cmp.Or(r.method, method)
	traced, lookup := remote.TraceLookup(ctx)
	req, err := http.NewRequestWithContext(traced, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", r.accept)
	if r.body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.contentType, anyJSON))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, lookup.Cause(cause(ctx, remote.WithoutURL(err)))
	}
	return res, nil
}

// expiry returns when the server's certificate expires; zero without TLS.
func expiry(state *tls.ConnectionState) time.Time {
	if state == nil || len(state.PeerCertificates) == 0 {
		return time.Time{}
	}
	return state.PeerCertificates[0].NotAfter
}

// expiryOfRejected returns when the certificate expires that the error is about, or zero.
func expiryOfRejected(err error) time.Time {
	rejected, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok || len(rejected.UnverifiedCertificates) == 0 {
		return time.Time{}
	}
	return rejected.UnverifiedCertificates[0].NotAfter
}
