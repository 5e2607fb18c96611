package prometheus

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/redact"
)

const (
	// apiPath is where the API is, after the prefix of the configuration.
	apiPath = "/api/v1"
	// maxBody bounds the body of an answer in bytes.
	maxBody = 1 << 20
	// bodyFactor is what a body takes for each of its bytes, with its parts as JSON.
	bodyFactor = 8
)

// session makes the requests of one collection, one after the other and on one connection. It is
// not safe for concurrent use.
type session struct {
	target *url.URL
	client *http.Client
	// header is that of every request, and host its host, "" for that of the target.
	header http.Header
	host   string
	// secrets are those of the requests, which an answer may contain.
	secrets []string
	bodies  *budget.Bodies
	body    bytes.Buffer
	// expiry is that of the last certificates, zero without any. answered reports whether the
	// last request got a complete answer.
	expiry   time.Time
	answered bool
}

// open prepares the requests, with what the files hold now. Its connections end with ctx.
func (c *collector) open(ctx context.Context) (*session, error) {
	target := c.base.JoinPath(apiPath, "query")
	s := &session{target: target, bodies: c.bodies, secrets: redact.Secrets(c.config.URL)}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), nil)
	if err != nil {
		return s, collectors.Errorf(remote.ReasonProtocol, "prepare request: %w", remote.WithoutURL(err))
	}
	req.Header.Set("User-Agent", "vitals")
	headers, err := remote.Headers{Values: c.config.Headers, Files: c.config.HeaderFiles}.Set(req, c.hide)
	if err != nil {
		return s, err
	}
	credentials, err := remote.Authorize(req, c.config.BasicAuth, c.config.BearerTokenFile)
	if err != nil {
		return s, collectors.Errorf(remote.ReasonAuth, "read credentials: %w", err)
	}
	c.hide(credentials...)
	s.secrets = slices.Concat(s.secrets, headers, credentials)
	s.header, s.host = req.Header, req.Host

	ca, err := c.config.TLS.Trusted()
	if err != nil {
		return s, collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	settings, err := c.config.TLS.Config(ca)
	if err != nil {
		return s, collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	s.client = &http.Client{CheckRedirect: remote.FollowSameHost, Transport: &http.Transport{
		DialContext: panics.Dial(func(_ context.Context, network, address string) (net.Conn, error) {
			return dial(ctx, network, address)
		}),
		TLSClientConfig:        settings,
		DisableCompression:     true, // the limit counts the bytes of the answer
		MaxConnsPerHost:        1,
		MaxResponseHeaderBytes: remote.MaxHeader,
	}}
	return s, nil
}

// dial connects. The connection ends with the collection, also during a handshake, which in
// net/http may outlive the request.
func dial(collection context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(collection, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(collection, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return conn, nil
}

// query runs an instant query within a time.
func (s *session) query(ctx context.Context, expr string, within time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	form := url.Values{
		"query": {expr},
		// Not all servers have a limit. One more than the limit shows that there are more.
		"limit": {strconv.Itoa(query.MaxRows + 1)},
		// The server gets less time, so that it can report the end of it.
		"timeout": {strconv.FormatFloat((within * 9 / 10).Seconds(), 'f', 3, 64)},
	}
	a, status, err := s.send(ctx, http.MethodPost, form)
	switch status {
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented: // a proxy that only reads
		a, _, err = s.send(ctx, http.MethodGet, form)
	}
	if reason := remote.ReasonOf(err); ctx.Err() != nil && (reason == remote.ReasonTimeout || reason == remote.ReasonProtocol) {
		err = collectors.Errorf(remote.ReasonTimeout, "no complete answer in time: %w", err)
	}
	return a, err
}

// send makes one request. The status is 0 without an answer.
func (s *session) send(ctx context.Context, method string, form url.Values) (a answer, status int, err error) {
	s.answered = false
	target, body := *s.target, io.Reader(nil)
	if method == http.MethodGet {
		target.RawQuery = strings.TrimPrefix(target.RawQuery+"&"+form.Encode(), "&")
	} else {
		body = strings.NewReader(form.Encode())
	}
	traced, lookup := remote.TraceLookup(ctx)
	req, err := http.NewRequestWithContext(traced, method, target.String(), body)
	if err != nil {
		return answer{}, 0, collectors.Errorf(remote.ReasonProtocol, "prepare request: %w", remote.WithoutURL(err))
	}
	req.Header, req.Host = s.header.Clone(), s.host
	if body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		if until := remote.ExpiryOfUnverified(err); !until.IsZero() {
			s.expiry = until
		}
		return answer{}, 0, lookup.Cause(remote.WithoutURL(err))
	}
	defer resp.Body.Close()
	if resp.TLS != nil {
		s.expiry = remote.CertificateExpiry(resp.TLS)
	}
	a, err = s.read(ctx, resp)
	return a, resp.StatusCode, err
}

// read reads an answer.
func (s *session) read(ctx context.Context, resp *http.Response) (answer, error) {
	reader := s.bodies.Reader(ctx, resp.Body, bodyFactor)
	defer reader.Release()
	s.body.Reset()
	n, err := s.body.ReadFrom(io.LimitReader(reader, maxBody+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("read answer: %w", err)
	case n > maxBody:
		return answer{}, collectors.Errorf(remote.ReasonProtocol, "answer is larger than %s: expected an expression that aggregates", collectors.Size(maxBody))
	}
	s.answered = true
	return parseAnswer(resp.StatusCode, s.body.Bytes())
}
