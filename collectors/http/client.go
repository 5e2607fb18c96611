package http

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/redact"
)

// minSent is the length in bytes from which a query or a body may be a secret as a
// whole. A shorter one would match in unrelated texts.
const minSent = 8

// client makes each request on a new connection. It is not safe for concurrent use.
type client struct {
	config Config
	// expected reports whether an answer may have the status.
	expected func(status int) bool
	// settings trust ca; nil before the first collection.
	settings *tls.Config
	ca       []byte
	// hide is that of Env.
	hide func(...string)
}

// request makes the request, with the secrets that the files hold now. It also returns the
// secrets.
func (c *client) request(ctx context.Context, target string) (*http.Request, []string, error) {
	var secrets []string
	body := []byte(c.config.Body)
	if c.config.BodyFile != "" {
		var err error
		if body, err = remote.ReadClientFile(c.config.BodyFile); err != nil {
			return nil, nil, collectors.Errorf(remote.ReasonProtocol, "prepare request: %w", err)
		}
		secrets = append(secrets, string(bytes.TrimSpace(body)))
		c.hide(redact.Secrets(string(body))...)
	}
	req, err := http.NewRequestWithContext(ctx, c.config.Method, target, bytes.NewReader(body))
	if err != nil {
		return nil, nil, collectors.Errorf(remote.ReasonProtocol, "prepare request: %w", remote.WithoutURL(err))
	}
	req.Header.Set("User-Agent", c.config.UserAgent)
	for _, sent := range []string{req.URL.RawQuery, strings.TrimSpace(c.config.Body)} {
		if len(sent) >= minSent {
			secrets = append(secrets, sent)
		}
	}
	secrets = append(secrets, redact.Secrets(target, c.config.Body)...)
	headers, err := remote.Headers{Values: c.config.Headers, Files: c.config.HeaderFiles}.Set(req, c.hide)
	if err != nil {
		return nil, nil, err
	}
	credentials, err := remote.Authorize(req, c.config.BasicAuth, c.config.BearerTokenFile)
	if err != nil {
		return nil, nil, collectors.Errorf(remote.ReasonAuth, "read credentials: %w", err)
	}
	c.hide(credentials...)
	return req, slices.Concat(secrets, headers, credentials), nil
}

// do sends a request and sets the redirects of the answer. The body of the answer, and all that
// net/http started for it, ends with ctx. By default, a redirect is followed if it leads to the same
// host. One with an expected status is an answer like any other.
func (c *client) do(ctx context.Context, req *http.Request, a *answer) (*http.Response, error) {
	settings, err := c.trust()
	if err != nil {
		return nil, collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	route := &route{first: req.URL, trace: a.trace, own: c.transport(ctx, a.trace.certificates(settings))}
	// Another server gets neither the client's certificate nor the name of this server.
	foreign := settings.Clone()
	foreign.GetClientCertificate, foreign.ServerName = nil, ""
	route.foreign = c.transport(ctx, a.trace.certificates(foreign))
	client := http.Client{Transport: route, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case c.config.FollowRedirects:
		case c.expected(next.Response.StatusCode):
			return http.ErrUseLastResponse
		case remote.Leaves(next, via):
			a.refused = next.URL
			return http.ErrUseLastResponse
		}
		if err := route.follow(next, via); err != nil {
			return err
		}
		a.redirects = len(via)
		return nil
	}}
	return client.Do(req.WithContext(httptrace.WithClientTrace(ctx, a.trace.client())))
}

// trust returns the settings of TLS, new ones when the trusted certificates have changed.
func (c *client) trust() (*tls.Config, error) {
	ca, err := c.config.TLS.Trusted()
	if err != nil {
		return nil, err
	}
	if c.settings == nil || !bytes.Equal(ca, c.ca) {
		settings, err := c.config.TLS.Config(ca)
		if err != nil {
			return nil, err
		}
		c.settings, c.ca = settings, ca
	}
	return c.settings, nil
}

// transport makes the connections of one collection. None is used twice, so that every collection
// measures every phase.
func (c *client) transport(collection context.Context, settings *tls.Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	t := &http.Transport{
		DialContext: panics.Dial(func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.dial(ctx, collection, network, address)
		}),
		TLSClientConfig:   settings,
		Protocols:         protocols,
		DisableKeepAlives: true,
		// The configuration may set Accept-Encoding, and read decompresses the answer.
		DisableCompression:     true,
		MaxResponseHeaderBytes: remote.MaxHeader,
	}
	if c.config.UseProxy {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

// dial connects. In net/http, an attempt and its handshake may outlive the request; here they
// end with the collection.
func (c *client) dial(ctx, collection context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(collection, cancel)()
	switch {
	case c.config.UnixSocket != "":
		network, address = "unix", c.config.UnixSocket
	case c.config.IPFamily != familyAny:
		network = "tcp" + c.config.IPFamily
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	switch {
	case err != nil && collection.Err() != nil:
		return nil, collection.Err() // the deadline, which the dial reports as a cancellation
	case err != nil:
		return nil, err
	}
	context.AfterFunc(collection, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return conn, nil
}

// route sends the requests of one collection: those to the configured server, and those to other
// servers after redirects.
type route struct {
	first        *url.URL
	own, foreign *http.Transport
	trace        *trace
}

// RoundTrip implements http.RoundTripper.
func (r *route) RoundTrip(req *http.Request) (*http.Response, error) {
	r.trace.begin(strings.TrimPrefix(remote.Origin(req.URL), strings.ToLower(req.URL.Scheme)+"://"))
	if remote.SameHost(r.first, req.URL) {
		return r.own.RoundTrip(req)
	}
	return r.foreign.RoundTrip(req)
}

// follow prepares the request after a redirect. After a redirect to another server, requests have
// only the method and the user agent of the configuration, even back to the first server:
// headers and the body may contain credentials. remote.SameHost decides what another server is.
func (r *route) follow(next *http.Request, via []*http.Request) error {
	if len(via) > remote.MaxRedirects {
		return collectors.Errorf(remote.ReasonProtocol, "more than %d redirects", remote.MaxRedirects)
	}
	next.Header.Del("Referer") // net/http puts the URL with its query there
	if !remote.Leaves(next, via) {
		return nil
	}
	if next.ContentLength != 0 {
		return collectors.Errorf(remote.ReasonProtocol, "redirect with status %d to another server: expected none for a request with a body", next.Response.StatusCode)
	}
	next.Header = http.Header{"User-Agent": next.Header.Values("User-Agent")}
	next.Host = ""
	return nil
}
