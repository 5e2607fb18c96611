package grpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// maxRead bounds how many bytes, with those of TLS and HTTP/2, a collection reads.
	maxRead = 1 << 20
	// maxHeader bounds the headers and the trailers of a response in bytes.
	maxHeader = 16 << 10
	// maxWindow is how many bytes of a response a server may send ahead: a frame of HTTP/2.
	maxWindow = 16 << 10
	// method is the path of the call.
	method = "/grpc.health.v1.Health/Check"
)

// call is one call and its results.
type call struct {
	config  *Config
	address address
	hide    func(...string)
	// secrets are the values of metadata, which no error may show.
	secrets []string
	// expiry is zero if the server sent no certificates.
	expiry time.Time
	// answered is set if there was a complete response, and code and serving are then set as
	// far as it has them.
	answered bool
	code     int
	serving  serving
}

// do connects, calls Check and closes the connection.
func (c *call) do(ctx context.Context) error {
	header, err := c.header(ctx)
	if err != nil {
		return collectors.Errorf(remote.ReasonAuth, "read metadata: %w", err)
	}
	settings, err := c.settings()
	if err != nil {
		return collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, c.address.network, c.address.to)
	if err != nil {
		return err
	}
	bound, stop := remote.Bound(ctx, conn, maxRead)
	defer stop()
	defer bound.Close()
	if settings == nil {
		return c.exchange(ctx, bound, "http", header)
	}
	secured := tls.Client(openConn{bound}, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		if reason := remote.ReasonUntil(ctx, err); reason != remote.ReasonProtocol {
			return collectors.Errorf(reason, "tls handshake: %w", err)
		}
		return collectors.Errorf(remote.ReasonTLS, "tls handshake: %w", err)
	}
	if p := secured.ConnectionState().NegotiatedProtocol; p != "h2" {
		return collectors.Errorf(remote.ReasonProtocol, "tls handshake: expected the server to choose h2 by ALPN, not %q", p)
	}
	defer secured.Close()
	err = c.exchange(ctx, secured, "https", header)
	if !c.answered && remote.ReasonUntil(ctx, err) == remote.ReasonProtocol {
		return afterAlert(secured, err)
	}
	return err
}

// exchange sends the request over the connection and reads the response.
func (c *call) exchange(ctx context.Context, conn net.Conn, scheme string, header http.Header) error {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(scheme == "http")
	transport := &http.Transport{
		DialContext: func(context.Context, string, string) (_ net.Conn, err error) {
			defer panics.Into(&err)
			return conn, nil
		},
		DialTLSContext: func(context.Context, string, string) (_ net.Conn, err error) {
			defer panics.Into(&err)
			return conn, nil
		},
		Protocols: &protocols, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: maxWindow},
	}
	client, err := transport.NewClientConn(ctx, scheme, net.JoinHostPort(c.address.host, "0"))
	if err != nil {
		return fmt.Errorf("start HTTP/2: %w", err)
	}
	defer client.Close()
	target := url.URL{Scheme: scheme, Host: c.authority(), Path: method}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(request(c.config.Service)))
	if err != nil {
		return remote.WithoutURL(err)
	}
	req.Header = header
	resp, err := client.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	defer resp.Body.Close()
	return c.read(resp)
}

// read reads the response to its end, where the status of the call is.
func (c *call) read(resp *http.Response) error {
	if reason := remote.ReasonOfStatus(resp.StatusCode); resp.StatusCode != http.StatusOK {
		if reason == "" {
			reason = remote.ReasonProtocol
		}
		c.answered = true
		return collectors.Errorf(reason, "the response has the HTTP status %d: expected 200", resp.StatusCode)
	}
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/grpc") {
		return collectors.Errorf(remote.ReasonProtocol, "the response has the type %.40q: expected application/grpc", kind)
	}
	message, err := readFrame(resp.Body)
	if err != nil {
		return err
	}
	trailer := resp.Trailer
	if resp.Header.Get("Grpc-Status") != "" { // a response without a message has its status there
		trailer = resp.Header
	}
	if c.code, err = statusOf(trailer); err != nil {
		c.answered = c.code != codeOK
		return err
	}
	if message == nil {
		return collectors.Errorf(remote.ReasonProtocol, "read message: %w", io.ErrUnexpectedEOF)
	}
	status, err := parseResponse(message)
	if err != nil {
		return collectors.Errorf(remote.ReasonProtocol, "%w", err)
	}
	c.answered, c.serving = true, status
	if status != servingServing {
		return collectors.Errorf(remote.ReasonServerError, "the health service returned %s", strings.ToUpper(string(status)))
	}
	return nil
}

// authority is the name of the server in the call.
func (c *call) authority() string {
	switch {
	case c.config.TLS != nil && c.config.TLS.ServerName != "":
		return c.config.TLS.ServerName
	case c.address.network == "unix":
		return c.address.host
	}
	return c.address.to
}

// header returns the headers of the call, with the metadata that the files hold now.
func (c *call) header(ctx context.Context) (http.Header, error) {
	header := http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {"vitals"}}
	if until, ok := ctx.Deadline(); ok {
		header.Set("Grpc-Timeout", fmt.Sprintf("%dm", max(1, time.Until(until).Milliseconds())))
	}
	for key, value := range c.config.Metadata {
		header.Set(key, value.Value())
		c.secrets = append(c.secrets, value.Value())
	}
	for key, file := range c.config.MetadataFiles {
		value, err := remote.ReadClientFile(file)
		if err != nil {
			return nil, err
		}
		text := string(bytes.TrimSpace(value))
		if !printable(text) {
			return nil, fmt.Errorf("%s: expected one line of printable ASCII", file)
		}
		header.Set(key, text)
		c.secrets = append(c.secrets, text)
		c.hide(text)
	}
	return header, nil
}

// settings returns the settings of TLS, nil without TLS. The handshake sets expiry.
func (c *call) settings() (*tls.Config, error) {
	if c.config.TLS == nil {
		return nil, nil
	}
	ca, err := c.config.TLS.Trusted()
	if err != nil {
		return nil, err
	}
	settings, err := c.config.TLS.Config(ca)
	if err != nil {
		return nil, err
	}
	settings.NextProtos = []string{"h2"}
	if settings.ServerName == "" {
		settings.ServerName = c.address.host
	}
	settings.VerifyConnection = func(state tls.ConnectionState) (err error) {
		defer panics.Into(&err)
		c.expiry = remote.CertificateExpiry(&state)
		return nil
	}
	return settings, nil
}
