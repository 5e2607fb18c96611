package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// bodyLimit bounds an answer, and objectLimit the answer that holds a
	// whole object: etcd takes 1.5 MiB, and the JSON form may be somewhat longer.
	bodyLimit   = 1 << 20
	objectLimit = 4 << 20
	// dialTimeout bounds the making of a connection, and the TLS handshake
	// that client-go's transport gives 10 s as well.
	dialTimeout = 10 * time.Second
)

// The representations that are asked for. The metadata alone is enough to follow
// a watch and keeps the cost of large objects away from both sides.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Metadata-only fetches".
const (
	anyJSON  = "application/json"
	metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json"
	metaList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
)

// client asks one API server over connections of its own. It is safe for
// concurrent use.
type client struct {
	base *url.URL
	http *http.Client
}

// newKubeClient makes a client whose connections are shared with no other, so
// that a connection that hangs is given up without harm to anybody else.
func newKubeClient(config *rest.Config) (*client, error) {
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
	return &client{base: base, http: &http.Client{
		Transport: transport,
		// A redirect would carry the credentials to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// closeIdle drops the connections that no request uses, so that the next request
// finds out anew whether the server can be reached.
func (c *client) closeIdle() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// request is what a client asks.
type request struct {
	path   string
	query  url.Values
	accept string
	// body makes the request a POST of JSON.
	body []byte
	// limit bounds the answer in bytes; zero means bodyLimit.
	limit int64
}

// answer is what a server answered, whatever the status.
type answer struct {
	status int
	body   []byte
	took   time.Duration
	// expires is when the certificate that the server showed expires. It is set
	// for a certificate that was rejected, too, and zero without TLS.
	expires time.Time
}

// failure is an error whose class is known better than from the error itself.
type failure struct {
	reason remote.Reason
	// status is the HTTP status that the server answered; zero if it is not the
	// status that is wrong.
	status int
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// reason classifies an error of this file; nil is no failure.
func reason(err error) remote.Reason {
	var failure *failure
	if errors.As(err, &failure) {
		return failure.reason
	}
	return remote.ReasonOfTransport(err)
}

// failedWith says whether err is an answer with this status.
func failedWith(err error, status int) bool {
	var failure *failure
	return errors.As(err, &failure) && failure.status == status
}

// ask sends a request and reads the answer. A status other than 200 and 201 is an
// error beside the answer.
func (c *client) ask(ctx context.Context, r request) (answer, error) {
	began := time.Now()
	res, err := c.open(ctx, r)
	if err != nil {
		return answer{expires: rejectedExpiry(err)}, err
	}
	defer res.Body.Close()
	answer := answer{status: res.StatusCode, expires: expiry(res.TLS)}
	limit := r.limit
	if limit == 0 {
		limit = bodyLimit
	}
	answer.body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	answer.took = time.Since(began)
	switch {
	case int64(len(answer.body)) > limit:
		return answer, malformed(fmt.Errorf("longer than %d bytes", limit))
	case statusReason(res.StatusCode) != "":
		return answer, statusError(res.StatusCode, answer.body)
	case err != nil:
		return answer, fmt.Errorf("read the answer: %w", cause(ctx, err))
	}
	return answer, nil
}

// open sends a request and returns once the headers of the answer are there. The
// caller closes the body.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	u := c.base.JoinPath(r.path)
	u.RawQuery = r.query.Encode()
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", r.accept)
	if r.body != nil {
		req.Header.Set("Content-Type", anyJSON)
	}
	res, err := c.http.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // the URL is in the configuration already
		}
		return nil, cause(ctx, err)
	}
	return res, nil
}

// cause returns why ctx ended, if it did: a transport only says that it did.
func cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// malformed is the error for an answer that an API server does not give.
func malformed(err error) error {
	return &failure{reason: remote.ReasonProtocol, err: fmt.Errorf("unexpected answer: %w", err)}
}

// statusReason classifies a status. An API server answers 200 or 201 to what
// is asked here; any other status that is no error is not its answer.
func statusReason(status int) remote.Reason {
	if status == http.StatusOK || status == http.StatusCreated {
		return ""
	}
	if reason := remote.ReasonOfStatus(status); reason != "" {
		return reason
	}
	return remote.ReasonProtocol
}

// failingCheck finds the checks that fail in the answer of /readyz, such as
// "[-]etcd failed: reason withheld".
var failingCheck = regexp.MustCompile(`(?m)^\[-\]\S+`)

// statusError describes a status and what the server said with it: the message
// of a Status object, the health checks that fail, or else the start of the body.
func statusError(status int, body []byte) error {
	var object struct{ Message string }
	text := string(bytes.TrimSpace(body))
	if json.Unmarshal(body, &object) == nil && object.Message != "" {
		text = object.Message
	} else if failing := failingCheck.FindAllString(text, -1); failing != nil {
		text = strings.Join(failing, " ")
	}
	err := fmt.Errorf("status %d", status)
	if text != "" {
		err = fmt.Errorf("status %d: %.160q", status, text)
	}
	return &failure{statusReason(status), status, err}
}

func expiry(state *tls.ConnectionState) time.Time {
	if state == nil || len(state.PeerCertificates) == 0 {
		return time.Time{}
	}
	return state.PeerCertificates[0].NotAfter
}

func rejectedExpiry(err error) time.Time {
	var rejected *tls.CertificateVerificationError
	if !errors.As(err, &rejected) || len(rejected.UnverifiedCertificates) == 0 {
		return time.Time{}
	}
	return rejected.UnverifiedCertificates[0].NotAfter
}
