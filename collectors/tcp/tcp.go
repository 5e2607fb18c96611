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
)

// The metrics of the kind tcp.
var (
	mysqlWsrepLocalStateMetric = collectors.NewGauge("vitals_mysql_wsrep_local_state", "The state of the node in its Galera cluster, as wsrep_local_state has it: 4 is synced, 2 a donor; absent without galera.", "dependency")
	mysqlReadOnlyMetric        = collectors.NewGauge("vitals_mysql_read_only", "Whether the server refuses to be written to (1) or not (0); absent without galera.", "dependency")
)

// collector is the collector of the kind collector.
type collector struct {
	name     string
	config   Config
	address  address
	protocol protocol // without a name where none is configured
	steps    []step
	note     string
}

// round is what one round measures.
type round struct {
	// resolve, connect, tls and exchange are how long the phases took; those that did not
	// come to their end are zero.
	resolve, connect, tls, exchange time.Duration
	// expiry is zero where the server has shown no certificates.
	expiry time.Time
	// remote is where the connection leads, and what was configured before there is one.
	remote string
	// own are the protocol's own gauges.
	own map[*collectors.Def]float64
	// login is to be redacted.
	login *tcpLogin
	note  string
}

// phases are the values of the label phase.
func phases() []string { return []string{"resolve", "connect", "tls", "exchange"} }

// Collect connects, asks once, and closes the connection.
func (t *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	r := round{remote: t.address.String()}
	start := time.Now()
	err := t.ask(ctx, &r)
	took := time.Since(start)

	reason := reasonOfTCP(ctx, err)
	if r.connect == 0 || !answered(reason) {
		took, r.exchange = 0, 0
	}
	var b collectors.Batch
	remote.AddDependency(&b, t.name, took, reason)
	for i, took := range []time.Duration{r.resolve, r.connect, r.tls, r.exchange} {
		if took > 0 {
			b.Set(phaseDurationMetric, took.Seconds(), t.name, phases()[i])
		}
	}
	for _, d := range ownDefs() {
		if value, ok := r.own[d]; ok {
			b.Set(d, value, t.name)
		}
	}
	if until := remote.ExpiryOfUnverified(err); !until.IsZero() {
		r.expiry = until
	}
	if !r.expiry.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(r.expiry.Unix()), t.name)
	}
	if err == nil {
		t.note = collectors.OneLine(t.redacted(&r, t.what(r.remote)+" "+r.note), collectors.MaxNote)
		return b.Samples, nil
	}
	text := t.redacted(&r, err.Error())
	t.note = collectors.OneLine(fmt.Sprintf("%s %s: %s", t.what(r.remote), reason, text), collectors.MaxNote)
	return b.Samples, errors.New(collectors.OneLine("check "+t.what(r.remote)+": "+text, collectors.MaxReason))
}

// redacted is text without what was sent, which a server may send back.
func (t *collector) redacted(r *round, text string) string {
	for _, s := range t.steps {
		text = redact.Values(text, redact.Sent(s.send))
	}
	return r.login.redacted(text)
}

// Describe lists the metrics that Collect exports.
func (t *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// ownDefs are the metrics that one protocol has and others have not.
func ownDefs() []*collectors.Def {
	return []*collectors.Def{
		mysqlWsrepLocalStateMetric,
		mysqlReadOnlyMetric,
	}
}

// Note says what the server answered in the last round, or why it did not.
func (t *collector) Note() string { return t.note }

// what names the server as in "redis 127.0.0.1:6379".
func (t *collector) what(address string) string {
	if t.protocol.name == "" {
		return "tcp " + address
	}
	return t.protocol.name + " " + address
}

// ask goes through the phases of a round.
func (t *collector) ask(ctx context.Context, r *round) error {
	r.own = map[*collectors.Def]float64{}
	peer := peer{
		host: t.address.name(), database: t.config.Database, galera: t.config.Galera,
		measured: func(metric *collectors.Def, value float64) { r.own[metric] = value },
	}
	var err error
	if peer.login, err = t.login(); err != nil {
		return collectors.Errorf(remote.ReasonAuth, "read password: %w", err)
	}
	r.login = peer.login
	if peer.tls, err = t.settings(r); err != nil {
		return collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err)
	}
	address, err := t.address.found()
	if err != nil {
		return err
	}
	var conn net.Conn
	conn, r.resolve, r.connect, err = address.dial(ctx, t.config.IPFamily)
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
	return t.talk(ctx, &peer, r)
}

// talk makes the handshake where it comes first, and asks.
func (t *collector) talk(ctx context.Context, peer *peer, r *round) error {
	r.note = "connected"
	if peer.tls != nil && !t.protocol.startsTLS && !t.config.startsTLS() {
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
	case len(t.steps) > 0:
		d := dialogue{conn: peer.conn, secure: func(conn net.Conn) (net.Conn, error) { return r.secure(ctx, conn, peer.tls) }}
		r.note, err = d.run(t.steps)
	case t.protocol.check != nil:
		r.note, err = t.protocol.check(ctx, peer)
	default:
		return nil
	}
	r.exchange = time.Since(start) - (r.tls - before)
	return err
}

// secure makes a handshake.
func (r *round) secure(ctx context.Context, conn net.Conn, settings *tls.Config) (net.Conn, error) {
	start := time.Now()
	secured := tls.Client(conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		reason := reasonOfTCP(ctx, err)
		if reason == remote.ReasonProtocol {
			reason = remote.ReasonTLS
		}
		return nil, collectors.Errorf(reason, "tls handshake: %w", err)
	}
	r.tls = time.Since(start)
	r.note = "connected with " + tls.VersionName(secured.ConnectionState().Version)
	return secured, nil
}

// login reads the credentials as they are now.
func (t *collector) login() (*tcpLogin, error) {
	c := &t.config
	if c.Username == "" && c.Password == "" && c.PasswordFile == "" {
		return nil, nil
	}
	login := &tcpLogin{Username: c.Username, Password: c.Password}
	if c.PasswordFile != "" {
		password, err := remote.ReadClientFile(c.PasswordFile)
		if err != nil {
			return nil, err
		}
		login.Password = collectors.Secret(bytes.TrimSpace(password))
	}
	return login, nil
}

// settings makes those of a handshake, nil where there is to be none. Whoever makes it, r
// learns what certificates the server shows.
func (t *collector) settings(r *round) (*tls.Config, error) {
	if t.config.TLS == nil && !t.config.startsTLS() {
		return nil, nil
	}
	ca, err := t.config.TLS.Trusted()
	if err != nil {
		return nil, err
	}
	settings, err := t.config.TLS.Config(ca)
	if err != nil {
		return nil, err
	}
	if settings.ServerName == "" {
		settings.ServerName = t.address.host
	}
	settings.VerifyConnection = func(state tls.ConnectionState) error {
		r.expiry = remote.CertificateExpiry(&state)
		return nil
	}
	return settings, nil
}

// redacted is text without the password.
func (l *tcpLogin) redacted(text string) string {
	if l == nil || l.Password == "" {
		return text
	}
	return redact.Values(text, []string{l.Password.Value()})
}

// reasonOfTCP is the reason that a check has given, or what the error says.
func reasonOfTCP(ctx context.Context, err error) remote.Reason {
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

// answered says whether a server has come to an answer, for this reason or none.
func answered(reason remote.Reason) bool {
	switch reason {
	case "", remote.ReasonAuth, remote.ReasonForbidden, remote.ReasonNotFound, remote.ReasonClientError, remote.ReasonServerError:
		return true
	}
	return false
}
