// Package tcp connects to a server and checks, for the protocols that it implements, that the
// server answers.
package tcp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// collector is a collector of the kind tcp.
type collector struct {
	name     string
	config   Config
	address  address
	protocol protocol // without a name where none is configured
	steps    []step
	note     string
}

// collection is the result of one collection.
type collection struct {
	// resolve, connect, tls and exchange are the durations of the phases, zero for those
	// that did not complete.
	resolve, connect, tls, exchange time.Duration
	// expiry is zero if the server sent no certificates.
	expiry time.Time
	// remote is the address of the connection, before that the configured one.
	remote string
	// own are the gauges of one protocol only.
	own map[*collectors.Def]float64
	// login is redacted in notes and errors.
	login *credentials
	note  string
}

// phases are the values of the label phase.
func phases() []string { return []string{"resolve", "connect", "tls", "exchange"} }

// Collect connects, checks the server once, and closes the connection.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	r := collection{remote: c.address.String()}
	start := time.Now()
	err := c.check(ctx, &r)
	took := time.Since(start)

	reason := classify(ctx, err)
	if r.connect == 0 || !answered(reason) {
		took, r.exchange = 0, 0
	}
	var b collectors.Batch
	remote.AddDependency(&b, c.name, took, reason)
	for i, took := range []time.Duration{r.resolve, r.connect, r.tls, r.exchange} {
		if took > 0 {
			b.Set(phaseDurationMetric, took.Seconds(), c.name, phases()[i])
		}
	}
	for _, d := range ownDefs() {
		if value, ok := r.own[d]; ok {
			b.Set(d, value, c.name)
		}
	}
	if until := remote.ExpiryOfUnverified(err); !until.IsZero() {
		r.expiry = until
	}
	if !r.expiry.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(r.expiry.Unix()), c.name)
	}
	if err == nil {
		c.note = text.Short(c.redacted(&r, c.what(r.remote)+" "+r.note), collectors.MaxNote)
		return b.Samples, nil
	}
	message := c.redacted(&r, err.Error())
	c.note = text.Short(fmt.Sprintf("%s %s: %s", c.what(r.remote), reason, message), collectors.MaxNote)
	return b.Samples, errors.New(text.Short("check "+c.what(r.remote)+": "+message, collectors.MaxReason))
}

// redacted returns text without what was sent: a server may send that back.
func (c *collector) redacted(r *collection, text string) string {
	for _, s := range c.steps {
		text = redact.Values(text, redact.Sent(s.send))
	}
	return r.login.redacted(text)
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// Note returns the answer of the server in the last collection, or the reason of the failure.
func (c *collector) Note() string { return c.note }

// what returns the name of the server in notes and errors, as in "redis 127.0.0.1:6379".
func (c *collector) what(address string) string {
	if c.protocol.name == "" {
		return "tcp " + address
	}
	return c.protocol.name + " " + address
}

// check runs the phases of a collection.
func (c *collector) check(ctx context.Context, r *collection) error {
	r.own = map[*collectors.Def]float64{}
	peer := peer{
		host: c.address.name(), database: c.config.Database, galera: c.config.Galera,
		measured: func(metric *collectors.Def, value float64) { r.own[metric] = value },
	}
	var err error
	if peer.login, err = c.login(); err != nil {
		return collectors.Errorf(remote.ReasonAuth, "read password: %w", err)
	}
	r.login = peer.login
	if peer.tls, err = c.settings(r); err != nil {
		return collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	address, err := c.address.found()
	if err != nil {
		return err
	}
	var conn net.Conn
	conn, r.resolve, r.connect, err = address.dial(ctx, c.config.IPFamily)
	if err != nil {
		return err
	}
	bound, stop := remote.Bound(ctx, conn, maxRead)
	defer stop()
	defer bound.Close()
	if r.remote = conn.RemoteAddr().String(); address.socket != "" {
		r.remote = address.String()
	}
	peer.conn = bound
	return c.talk(ctx, &peer, r)
}

// talk makes the TLS handshake where it comes first, and runs the dialogue or the protocol.
func (c *collector) talk(ctx context.Context, peer *peer, r *collection) error {
	r.note = "connected"
	if peer.tls != nil && !c.protocol.startsTLS && !c.config.startsTLS() {
		secured, err := r.secure(ctx, peer.conn, peer.tls)
		if err != nil {
			return err
		}
		defer secured.Close()
		peer.conn = secured
	}
	start, before := time.Now(), r.tls
	var err error
	switch {
	case len(c.steps) > 0:
		d := dialogue{conn: peer.conn, secure: func(conn net.Conn) (net.Conn, error) { return r.secure(ctx, conn, peer.tls) }}
		r.note, err = d.run(c.steps)
	case c.protocol.check != nil:
		r.note, err = c.protocol.check(ctx, peer)
	default:
		return nil
	}
	r.exchange = time.Since(start) - (r.tls - before)
	return err
}

// secure makes the TLS handshake.
func (r *collection) secure(ctx context.Context, conn net.Conn, settings *tls.Config) (net.Conn, error) {
	start := time.Now()
	secured := tls.Client(conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		reason := classify(ctx, err)
		if reason == remote.ReasonProtocol {
			reason = remote.ReasonTLS
		}
		return nil, collectors.Errorf(reason, "tls handshake: %w", err)
	}
	r.tls = time.Since(start)
	r.note = "connected with " + tls.VersionName(secured.ConnectionState().Version)
	return secured, nil
}

// login returns the credentials, with the password that the file holds now.
func (c *collector) login() (*credentials, error) {
	config := &c.config
	if config.Username == "" && config.Password == "" && config.PasswordFile == "" {
		return nil, nil
	}
	login := &credentials{Username: config.Username, Password: config.Password}
	if config.PasswordFile != "" {
		password, err := remote.ReadClientFile(config.PasswordFile)
		if err != nil {
			return nil, err
		}
		login.Password = collectors.Secret(bytes.TrimSpace(password))
	}
	return login, nil
}

// settings returns the TLS settings, nil without TLS. The handshake sets r.expiry.
func (c *collector) settings(r *collection) (*tls.Config, error) {
	if c.config.TLS == nil && !c.config.startsTLS() {
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
	if settings.ServerName == "" {
		settings.ServerName = c.address.host
	}
	settings.VerifyConnection = func(state tls.ConnectionState) error {
		r.expiry = remote.CertificateExpiry(&state)
		return nil
	}
	return settings, nil
}

// redacted returns text without the password.
func (l *credentials) redacted(text string) string {
	if l == nil || l.Password == "" {
		return text
	}
	return redact.Values(text, []string{l.Password.Value()})
}

// classify returns the reason of the error of a check, and otherwise that of the transport.
func classify(ctx context.Context, err error) remote.Reason {
	return collectors.ReasonOf(err, func(err error) remote.Reason {
		switch {
		case ctx.Err() != nil:
			return remote.ReasonTimeout
		case errors.Is(err, os.ErrPermission): // of a Unix socket
			return remote.ReasonForbidden
		}
		return remote.ReasonOfTransport(err)
	})
}

// answered reports whether a collection with this reason, or none, got a complete answer.
func answered(reason remote.Reason) bool {
	switch reason {
	case "", remote.ReasonAuth, remote.ReasonForbidden, remote.ReasonNotFound, remote.ReasonClientError, remote.ReasonServerError:
		return true
	}
	return false
}
