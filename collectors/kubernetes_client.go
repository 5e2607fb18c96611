package collectors

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
)

const (
	// kubeBodyLimit bounds an answer, and kubeObjectLimit the answer that holds a
	// whole object: etcd takes 1.5 MiB, and the JSON form may be somewhat longer.
	kubeBodyLimit   = 1 << 20
	kubeObjectLimit = 4 << 20
	// kubeDialTimeout bounds the making of a connection, and the TLS handshake
	// that client-go's transport gives 10 s as well.
	kubeDialTimeout = 10 * time.Second
)

// The representations that are asked for. The metadata alone is enough to follow
// a watch and keeps the cost of large objects away from both sides.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Metadata-only fetches".
const (
	kubeAnyJSON  = "application/json"
	kubeMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json"
	kubeMetaList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
)

// kubeClient asks one API server over connections of its own. It is safe for
// concurrent use.
type kubeClient struct {
	base *url.URL
	http *http.Client
}

// newKubeClient makes a client whose connections are shared with no other, so
// that a connection that hangs is given up without harm to anybody else.
func newKubeClient(config *rest.Config) (*kubeClient, error) {
	own := rest.CopyConfig(config)
	own.Dial = (&net.Dialer{Timeout: kubeDialTimeout, KeepAlive: 30 * time.Second}).DialContext
	base, _, err := rest.DefaultServerUrlFor(own)
	if err != nil {
		return nil, fmt.Errorf("read the server's address: %w", err)
	}
	transport, err := rest.TransportFor(own)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection: %w", err)
	}
	return &kubeClient{base: base, http: &http.Client{
		Transport: transport,
		// A redirect would carry the credentials to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// closeIdle drops the connections that no request uses, so that the next request
// finds out anew whether the server can be reached.
func (c *kubeClient) closeIdle() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// kubeRequest is what a client asks.
type kubeRequest struct {
	path   string
	query  url.Values
	accept string
	// body makes the request a POST of JSON.
	body []byte
	// limit bounds the answer in bytes; zero means kubeBodyLimit.
	limit int64
}

// kubeAnswer is what a server answered, whatever the status.
type kubeAnswer struct {
	status int
	body   []byte
	took   time.Duration
	// expires is when the certificate that the server showed expires. It is set
	// for a certificate that was rejected, too, and zero without TLS.
	expires time.Time
}

// kubeFailure is an error whose class is known better than from the error itself.
type kubeFailure struct {
	reason Reason
	// status is the HTTP status that the server answered; zero if it is not the
	// status that is wrong.
	status int
	err    error
}

func (f *kubeFailure) Error() string { return f.err.Error() }
func (f *kubeFailure) Unwrap() error { return f.err }

// kubeReason classifies an error of this file; nil is no failure.
func kubeReason(err error) Reason {
	var failure *kubeFailure
	if errors.As(err, &failure) {
		return failure.reason
	}
	return reasonOfError(err)
}

// kubeFailedWith says whether err is an answer with this status.
func kubeFailedWith(err error, status int) bool {
	var failure *kubeFailure
	return errors.As(err, &failure) && failure.status == status
}

// ask sends a request and reads the answer. A status other than 200 and 201 is an
// error beside the answer.
func (c *kubeClient) ask(ctx context.Context, r kubeRequest) (kubeAnswer, error) {
	began := time.Now()
	res, err := c.open(ctx, r)
	if err != nil {
		return kubeAnswer{expires: kubeRejectedExpiry(err)}, err
	}
	defer res.Body.Close()
	answer := kubeAnswer{status: res.StatusCode, expires: kubeExpiry(res.TLS)}
	limit := r.limit
	if limit == 0 {
		limit = kubeBodyLimit
	}
	answer.body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	answer.took = time.Since(began)
	switch {
	case int64(len(answer.body)) > limit:
		return answer, kubeMalformed(fmt.Errorf("longer than %d bytes", limit))
	case kubeStatusReason(res.StatusCode) != "":
		return answer, kubeStatusError(res.StatusCode, answer.body)
	case err != nil:
		return answer, fmt.Errorf("read the answer: %w", kubeCause(ctx, err))
	}
	return answer, nil
}

// open sends a request and returns once the headers of the answer are there. The
// caller closes the body.
func (c *kubeClient) open(ctx context.Context, r kubeRequest) (*http.Response, error) {
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
		req.Header.Set("Content-Type", kubeAnyJSON)
	}
	res, err := c.http.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // the URL is in the configuration already
		}
		return nil, kubeCause(ctx, err)
	}
	return res, nil
}

// kubeCause returns why ctx ended, if it did: a transport only says that it did.
func kubeCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// kubeMalformed is the error for an answer that an API server does not give.
func kubeMalformed(err error) error {
	return &kubeFailure{reason: ReasonProtocol, err: fmt.Errorf("unexpected answer: %w", err)}
}

// kubeStatusReason classifies a status. An API server answers 200 or 201 to what
// is asked here; any other status that is no error is not its answer.
func kubeStatusReason(status int) Reason {
	if status == http.StatusOK || status == http.StatusCreated {
		return ""
	}
	if reason := reasonOfStatus(status); reason != "" {
		return reason
	}
	return ReasonProtocol
}

// kubeFailingCheck finds the checks that fail in the answer of /readyz, such as
// "[-]etcd failed: reason withheld".
var kubeFailingCheck = regexp.MustCompile(`(?m)^\[-\]\S+`)

// kubeStatusError describes a status and what the server said with it: the message
// of a Status object, the health checks that fail, or else the start of the body.
func kubeStatusError(status int, body []byte) error {
	var object struct{ Message string }
	text := string(bytes.TrimSpace(body))
	if json.Unmarshal(body, &object) == nil && object.Message != "" {
		text = object.Message
	} else if failing := kubeFailingCheck.FindAllString(text, -1); failing != nil {
		text = strings.Join(failing, " ")
	}
	err := fmt.Errorf("status %d", status)
	if text != "" {
		err = fmt.Errorf("status %d: %.160q", status, text)
	}
	return &kubeFailure{kubeStatusReason(status), status, err}
}

func kubeExpiry(state *tls.ConnectionState) time.Time {
	if state == nil || len(state.PeerCertificates) == 0 {
		return time.Time{}
	}
	return state.PeerCertificates[0].NotAfter
}

func kubeRejectedExpiry(err error) time.Time {
	var rejected *tls.CertificateVerificationError
	if !errors.As(err, &rejected) || len(rejected.UnverifiedCertificates) == 0 {
		return time.Time{}
	}
	return rejected.UnverifiedCertificates[0].NotAfter
}
