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
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// collector is a collector of the kind tcp.
type collector struct {
	name     string
	config   Config
	address  remote.Address
	protocol protocol // without a name where none is configured
	steps    []step
	note     string
	// hide is that of Env.
	hide func(...string)
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
	// answered is when the server had answered all but the queries, zero before.
	answered time.Time
	// outcomes are those of the queries that ran, by their names.
	outcomes map[string]query.Outcome
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
	took := r.end().Sub(start)

	reason := remote.ReasonUntil(ctx, err)
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
	failed := c.addQueries(&b, &r)
	if until := remote.ExpiryOfUnverified(err); !until.IsZero() {
		r.expiry = until
	}
	if !r.expiry.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(r.expiry.Unix()), c.name)
	}
	if err == nil && failed == nil {
		c.note = text.Short(c.redacted(&r, c.what(r.remote)+" "+r.note), collectors.MaxNote)
		return b.Samples, nil
	}
	status := string(reason)
	if err == nil {
		err, status = failed, "up"
	}
	message := c.redacted(&r, err.Error())
	c.note = text.Short(fmt.Sprintf("%s %s: %s", c.what(r.remote), status, message), collectors.MaxNote)
	return b.Samples, errors.New(text.Short("check "+c.what(r.remote)+": "+message, collectors.MaxReason))
}

// addQueries appends the samples of the queries that ran, and returns the error of the first that
// failed.
func (c *collector) addQueries(b *collectors.Batch, r *collection) error {
	var first error
	for _, name := range c.config.Queries.Names() {
		outcome, ran := r.outcomes[name]
		if !ran {
			continue
		}
		c.config.Queries.Add(b, c.name, name, outcome)
		if outcome.Err != nil && first == nil {
			first = fmt.Errorf("query %s: %w", name, outcome.Err)
		}
	}
	return first
}

// end returns when the server had answered, or now.
func (r *collection) end() time.Time {
	if r.answered.IsZero() {
		return time.Now()
	}
	return r.answered
}

// redacted returns text without what was sent: a server may send that back.
func (c *collector) redacted(r *collection, text string) string {
	for _, s := range c.steps {
		text = redact.Values(text, redact.Sent(s.send))
	}
	return r.login.redacted(text)
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(discovery.With(defs())) }

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
	r.own, r.outcomes = map[*collectors.Def]float64{}, map[string]query.Outcome{}
	peer := peer{
		host: c.address.Name(), database: c.config.Database, galera: c.config.Galera,
		queries:  c.config.Queries,
		answered: func() { r.answered = time.Now() },
		ran:      func(name string, outcome query.Outcome) { r.outcomes[name] = outcome },
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
	address, err := c.address.Found()
	if err != nil {
		return err
	}
	var conn net.Conn
	conn, r.resolve, r.connect, err = address.Dial(ctx, c.config.IPFamily)
	if err != nil {
		return err
	}
	bound, stop := remote.Bound(ctx, conn, maxRead)
	defer stop()
	defer bound.Close()
	if r.remote = conn.RemoteAddr().String(); address.Socket != "" {
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
	r.exchange = r.end().Sub(start) - (r.tls - before)
	return err
}

// secure makes the TLS handshake.
func (r *collection) secure(ctx context.Context, conn net.Conn, settings *tls.Config) (net.Conn, error) {
	start := time.Now()
	secured, err := remote.Secure(ctx, conn, settings)
	if err != nil {
		return nil, err
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
		c.hide(login.Password.Value())
	}
	return login, nil
}

// settings returns the TLS settings, nil without TLS. The handshake sets r.expiry.
func (c *collector) settings(r *collection) (*tls.Config, error) {
	if c.config.TLS == nil && !c.config.startsTLS() {
		return nil, nil
	}
	return c.config.TLS.Client(c.address.Host, func(expiry time.Time) { r.expiry = expiry })
}

// redacted returns text without the password.
func (l *credentials) redacted(text string) string {
	if l == nil || l.Password == "" {
		return text
	}
	return redact.Values(text, []string{l.Password.Value()})
}

// answered reports whether a collection with this reason, or none, got a complete answer.
func answered(reason remote.Reason) bool {
	switch reason {
	case "", remote.ReasonAuth, remote.ReasonForbidden, remote.ReasonNotFound, remote.ReasonClientError, remote.ReasonServerError:
		return true
	}
	return false
}
