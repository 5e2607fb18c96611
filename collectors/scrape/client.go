package scrape

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/redact"
)

const (
	// accept lists the text formats in Prometheus' order of preference.
	// Source: https://prometheus.io/docs/instrumenting/content_negotiation/
	accept = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6," +
		"application/openmetrics-text;version=0.0.1;q=0.5," +
		"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4," +
		"text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
	// maxRedirects bounds the redirects that are followed.
	maxRedirects = 5
)

// client queries one target. It is not safe for concurrent use.
type client struct {
	config Config
	// secrets are those of the last request, which an answer may contain.
	secrets []string
	// http is nil before the first scrape; ca are the certificates that it trusts.
	http *http.Client
	ca   []byte
	// hide is that of Env.
	hide func(...string)
}

// answer is an answer whose body has not been read.
type answer struct {
	io.Closer
	// plain is the decompressed body.
	plain       io.Reader
	contentType string
}

// fetch requests the metrics. The caller closes the answer.
func (c *client) fetch(ctx context.Context) (a answer, err error) {
	req, err := c.request(ctx)
	if err != nil {
		return answer{}, collectors.Errorf(remote.ReasonProtocol, "prepare request: %w", err)
	}
	if err := c.prepare(); err != nil {
		return answer{}, collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	traced, lookup := remote.TraceLookup(ctx)
	resp, err := c.http.Do(req.WithContext(traced))
	if err != nil {
		return answer{}, lookup.Cause(err)
	}
	defer func() {
		if err != nil {
			resp.Body.Close()
		}
	}()
	if resp.StatusCode != http.StatusOK {
		reason := remote.ReasonOfStatus(resp.StatusCode)
		if reason == "" {
			reason = remote.ReasonProtocol
		}
		return answer{}, collectors.Errorf(reason, "answer has status %d: expected 200", resp.StatusCode)
	}
	plain, err := decompressed(resp)
	return answer{resp.Body, plain, resp.Header.Get("Content-Type")}, err
}

// request makes the request, with the secrets that the files hold now.
func (c *client) request(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.config.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "vitals")
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline).Seconds()
		req.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", strconv.FormatFloat(left, 'f', 3, 64))
	}
	c.secrets = redact.Secrets(c.config.URL)
	credentials, err := remote.Authorize(req, c.config.BasicAuth, c.config.BearerTokenFile)
	if err != nil {
		return nil, err
	}
	c.secrets = append(c.secrets, credentials...)
	c.hide(c.secrets...)
	return req, nil
}

// prepare makes the client, and makes a new one when the trusted certificates change.
func (c *client) prepare() error {
	ca, err := c.config.TLS.Trusted()
	if err != nil {
		return err
	}
	if c.http != nil && bytes.Equal(ca, c.ca) {
		return nil
	}
	settings, err := c.config.TLS.Config(ca)
	if err != nil {
		return err
	}
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	c.ca = ca
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: &http.Transport{
		DialContext:     panics.Dial(c.dial),
		TLSClientConfig: settings,
		// request sets Accept-Encoding, because the limit counts decompressed bytes.
		DisableCompression:     true,
		MaxConnsPerHost:        1,
		MaxResponseHeaderBytes: remote.MaxHeader,
		IdleConnTimeout:        time.Minute,
	}}
	return nil
}

func (c *client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	if c.config.UnixSocket != "" {
		network, address = "unix", c.config.UnixSocket
	}
	return d.DialContext(ctx, network, address)
}

// redirect follows redirects within the same host, and others where the configuration allows it.
// Those requests have no credentials, so a configuration with a client certificate allows none.
func (c *client) redirect(next *http.Request, via []*http.Request) error {
	next.Header.Del("Referer") // net/http puts the URL with its query there
	if len(via) > maxRedirects {
		return collectors.Errorf(remote.ReasonProtocol, "more than %d redirects", maxRedirects)
	}
	if !remote.Leaves(next, via) {
		return nil
	}
	if tls := c.config.TLS; !c.config.FollowRedirects || tls != nil && tls.CertFile != "" {
		return remote.RefusedRedirect(next.Response.StatusCode, next.URL)
	}
	next.Header.Del("Authorization")
	return nil
}

// decompressed returns the plain body of an answer.
func decompressed(resp *http.Response) (io.Reader, error) {
	switch encoding := resp.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return resp.Body, nil
	case "gzip":
		plain, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, fmt.Errorf("decompress answer: %w", err)
		}
		return plain, nil
	default:
		return nil, collectors.Errorf(remote.ReasonProtocol, "answer has the encoding %q: expected gzip or none", encoding)
	}
}
