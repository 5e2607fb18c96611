package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// maxRead bounds how many bytes, with those of TLS, a connection reads from its server.
	maxRead = 1 << 20
	// maxMessage is the size in bytes of the largest message that is read.
	maxMessage = 64 << 10
)

// encryption is what one attempt to connect requests.
type encryption int

const (
	plain encryption = iota
	// optional uses TLS if the server supports it.
	optional
	required
)

// attempts returns what the sslmode requests, one connection after the other.
func (c *collector) attempts() []encryption {
	switch {
	case c.address.Socket != "" || c.config.SSLMode == sslDisable:
		return []encryption{plain}
	case c.config.SSLMode == sslAllow:
		return []encryption{plain, required}
	case c.config.SSLMode == sslPrefer:
		return []encryption{optional, plain}
	}
	return []encryption{required}
}

// connect logs in. The second attempt of an sslmode follows only if the first failed by its
// encryption: in the handshake, or by the rules of pg_hba.conf.
func (c *collector) connect(ctx context.Context, r *collection) (s *session, err error) {
	address, err := c.address.Found()
	if err != nil {
		return nil, err
	}
	for _, with := range c.attempts() {
		var byEncryption bool
		s, byEncryption, err = c.attempt(ctx, address, with, r)
		if err == nil || !byEncryption || ctx.Err() != nil {
			break
		}
	}
	return s, err
}

// attempt makes one connection. byEncryption is set if one with or without TLS may succeed.
func (c *collector) attempt(ctx context.Context, address remote.Address, with encryption, r *collection) (s *session, byEncryption bool, err error) {
	conn, _, _, err := address.Dial(ctx, c.config.IPFamily)
	if err != nil {
		return nil, false, err
	}
	if r.remote = conn.RemoteAddr().String(); address.Socket != "" {
		r.remote = address.String()
	}
	bound, stop := remote.Bound(ctx, conn, maxRead)
	s = &session{raw: bound, stop: stop}
	defer func() {
		if err != nil {
			s.close(ctx)
			s = nil
		}
	}()
	r.encryption = ""
	secured := net.Conn(bound)
	if with != plain {
		if secured, err = c.secure(ctx, bound, with, r); err != nil {
			return s, remote.ReasonUntil(ctx, err) == remote.ReasonTLS, err
		}
	}
	s.conn, err = c.startup(ctx, secured, r)
	if err != nil {
		return s, refusedByRules(err), serverError(err)
	}
	return s, false, nil
}

// secure requests TLS and makes the handshake. The server answers the request with one byte. What
// follows that byte in the clear is taken for a part of the handshake, which then fails.
// Source: https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL
func (c *collector) secure(ctx context.Context, conn net.Conn, with encryption, r *collection) (net.Conn, error) {
	settings, err := c.settings(r)
	if err != nil {
		return nil, collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	if _, err := conn.Write([]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}); err != nil {
		return nil, fmt.Errorf("request tls: %w", err)
	}
	answer := make([]byte, 1)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, fmt.Errorf("request tls: %w", err)
	}
	switch {
	case answer[0] == 'N' && with == optional:
		return conn, nil
	case answer[0] == 'N':
		return nil, collectors.Errorf(remote.ReasonTLS, "the server does not support TLS")
	case answer[0] != 'S':
		return nil, collectors.Errorf(remote.ReasonProtocol, "answer to the request for TLS begins with %#x: expected S or N", answer[0])
	}
	secured, err := remote.Secure(ctx, conn, settings)
	if err != nil {
		return nil, err
	}
	r.encryption = " with " + tls.VersionName(secured.ConnectionState().Version)
	return secured, nil
}

// settings returns the settings of TLS. As in libpq, require verifies the authority if its file is
// configured. The handshake sets r.expiry.
func (c *collector) settings(r *collection) (*tls.Config, error) {
	ca, err := c.config.TLS.client().Trusted()
	if err != nil {
		return nil, err
	}
	settings, err := c.config.TLS.client().Config(ca)
	if err != nil {
		return nil, err
	}
	if settings.ServerName == "" {
		settings.ServerName = c.address.Host
	}
	settings.InsecureSkipVerify = c.config.SSLMode != sslVerifyFull
	authority := c.verifiesAuthority() && settings.InsecureSkipVerify
	settings.VerifyConnection = func(state tls.ConnectionState) (err error) {
		defer panics.Into(&err)
		r.expiry = remote.CertificateExpiry(&state)
		if authority {
			return verifyAuthority(state.PeerCertificates, settings.RootCAs)
		}
		return nil
	}
	return settings, nil
}

// verifiesAuthority reports whether TLS authenticates the server.
func (c *collector) verifiesAuthority() bool {
	switch c.config.SSLMode {
	case sslVerifyFull, sslVerifyCA:
		return true
	case sslRequire:
		return c.config.TLS != nil && c.config.TLS.CAFile != ""
	}
	return false
}

// verifyAuthority verifies the chain of a server, and not its name.
func verifyAuthority(chain []*x509.Certificate, roots *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("the server sent no certificate")
	}
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := chain[0].Verify(options); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
	}
	return nil
}

// neutral overrides what the library reads from variables and files of the environment.
const neutral = "host=localhost port=5432 user=- password=- dbname=- sslmode=disable sslnegotiation=postgres " +
	"sslrootcert='' sslcert='' sslkey='' sslcertmode=allow require_auth='' " +
	"target_session_attrs=any connect_timeout=0 channel_binding=prefer min_protocol_version=3.0 max_protocol_version=3.0"

// startup logs in over a connection. The library sends a request to cancel over a connection of
// its own, which it does not get: statement_timeout ends a query instead.
func (c *collector) startup(ctx context.Context, conn net.Conn, r *collection) (_ *pgconn.PgConn, err error) {
	defer panics.Into(&err) // of the library, on a malformed message
	config, err := pgconn.ParseConfig(neutral)
	if err != nil {
		return nil, collectors.Errorf(remote.ReasonClientError, "the environment has variables of libpq that are wrong: %w", err)
	}
	config.Fallbacks, config.TLSConfig, config.ConnectTimeout = nil, nil, 0
	config.User, config.Password, config.Database = r.username, r.password.Value(), c.config.Database
	config.RuntimeParams = map[string]string{"application_name": "vitals", "client_encoding": "UTF8"}
	config.MaxProtocolMessageBodyLen = maxMessage
	config.RequireAuth = ""
	if _, secured := conn.(*tls.Conn); !c.address.Local() && !(secured && c.verifiesAuthority()) {
		config.RequireAuth = "!password" // in the clear, to a server that nothing authenticates
	}
	var taken atomic.Bool
	config.DialFunc = panics.Dial(func(context.Context, string, string) (net.Conn, error) {
		if taken.Swap(true) {
			return nil, errors.New("one connection only")
		}
		return conn, nil
	})
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
	var guard scramGuard
	defer guard.done.Store(true)
	config.BuildFrontend = guard.frontend
	return pgconn.ConnectConfig(ctx, config)
}

// refusedByRules reports whether the server refused the login by its rules, which may differ for
// connections with and without TLS.
func refusedByRules(err error) bool {
	server, ok := errors.AsType[*pgconn.PgError](err)
	return ok && server.Code == codeInvalidAuthorization
}

// serverError adds the reason to an error of the library. Its text is that of the cause: the
// library adds the user, and an address that is not that of the server.
func serverError(err error) error {
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return collectors.Errorf(reasonOf(server.Code), "error %s: %s", server.Code, server.Message)
	}
	err = cause(err)
	switch message := err.Error(); {
	case strings.HasPrefix(message, "require_auth check failed"):
		return collectors.Errorf(remote.ReasonAuth, "the server requests the password itself: expected sslmode %s or %s, which authenticate the server", sslVerifyFull, sslVerifyCA)
	case strings.HasPrefix(message, "failed GSS auth"):
		return collectors.Errorf(remote.ReasonAuth, "the server requests GSSAPI: expected a login with a password or a certificate")
	}
	return err
}

// cause returns what one attempt of the library failed by.
func cause(err error) error {
	failed, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok {
		return err
	}
	if all, ok := failed.Unwrap().(interface{ Unwrap() []error }); ok && len(all.Unwrap()) > 0 {
		if inner := errors.Unwrap(all.Unwrap()[0]); inner != nil {
			return inner
		}
	}
	return failed.Unwrap()
}
