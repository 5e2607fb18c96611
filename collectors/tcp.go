package collectors

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/vitals-health/vitals/internal/redact"
)

// The metrics of the kind tcp.
var (
	tcpMysqlWsrepLocalStateMetric = newGauge("vitals_mysql_wsrep_local_state", "The state of the node in its Galera cluster, as wsrep_local_state has it: 4 is synced, 2 a donor; absent without galera.", "dependency")
	tcpMysqlReadOnlyMetric        = newGauge("vitals_mysql_read_only", "Whether the server refuses to be written to (1) or not (0); absent without galera.", "dependency")
)

// tcp is the collector of the kind tcp.
type tcp struct {
	name     string
	config   TCPConfig
	address  tcpAddress
	protocol tcpProtocol // without a name where none is configured
	steps    []tcpStep
	note     string
}

// tcpRound is what one round measures.
type tcpRound struct {
	// resolve, connect, tls and exchange are how long the phases took; those that did not
	// come to their end are zero.
	resolve, connect, tls, exchange time.Duration
	// expiry is zero where the server has shown no certificates.
	expiry time.Time
	// remote is where the connection leads, and what was configured before there is one.
	remote string
	// own are the protocol's own gauges.
	own map[*Def]float64
	// login is to be redacted.
	login *tcpLogin
	note  string
}

// tcpPhases are the values of the label phase.
func tcpPhases() []string { return []string{"resolve", "connect", "tls", "exchange"} }

// Collect connects, asks once, and closes the connection.
func (t *tcp) Collect(ctx context.Context) ([]Sample, error) {
	r := tcpRound{remote: t.address.String()}
	start := time.Now()
	err := t.ask(ctx, &r)
	took := time.Since(start)

	reason := reasonOfTCP(ctx, err)
	if r.connect == 0 || !answered(reason) {
		took, r.exchange = 0, 0
	}
	var b batch
	addDependency(&b, t.name, took, reason)
	for i, took := range []time.Duration{r.resolve, r.connect, r.tls, r.exchange} {
		if took > 0 {
			b.set(tcpPhaseDurationMetric, took.Seconds(), t.name, tcpPhases()[i])
		}
	}
	for _, d := range tcpOwnDefs() {
		if value, ok := r.own[d]; ok {
			b.set(d, value, t.name)
		}
	}
	if until := expiryOfUnverified(err); !until.IsZero() {
		r.expiry = until
	}
	if !r.expiry.IsZero() {
		b.set(certificateExpiryMetric, float64(r.expiry.Unix()), t.name)
	}
	if err == nil {
		t.note = oneLine(t.redacted(&r, t.what(r.remote)+" "+r.note), maxNote)
		return b.samples, nil
	}
	text := t.redacted(&r, err.Error())
	t.note = oneLine(fmt.Sprintf("%s %s: %s", t.what(r.remote), reason, text), maxNote)
	return b.samples, errors.New(oneLine("check "+t.what(r.remote)+": "+text, maxReason))
}

// redacted is text without what was sent, which a server may send back.
func (t *tcp) redacted(r *tcpRound, text string) string {
	for _, s := range t.steps {
		text = redact.Values(text, redact.Sent(s.send))
	}
	return r.login.redacted(text)
}

// Describe lists the metrics that Collect exports.
func (t *tcp) Describe() []Desc { return describe(tcpDefs()) }

// tcpOwnDefs are the metrics that one protocol has and others have not.
func tcpOwnDefs() []*Def {
	return []*Def{
		tcpMysqlWsrepLocalStateMetric,
		tcpMysqlReadOnlyMetric,
	}
}

// Note says what the server answered in the last round, or why it did not.
func (t *tcp) Note() string { return t.note }

// what names the server as in "redis 127.0.0.1:6379".
func (t *tcp) what(address string) string {
	if t.protocol.name == "" {
		return "tcp " + address
	}
	return t.protocol.name + " " + address
}

// ask goes through the phases of a round.
func (t *tcp) ask(ctx context.Context, r *tcpRound) error {
	r.own = map[*Def]float64{}
	peer := tcpPeer{
		host: t.address.name(), database: t.config.Database, galera: t.config.Galera,
		measured: func(metric *Def, value float64) { r.own[metric] = value },
	}
	var err error
	if peer.login, err = t.login(); err != nil {
		return failed(ReasonAuth, "read password: %w", err)
	}
	r.login = peer.login
	if peer.tls, err = t.settings(r); err != nil {
		return failed(ReasonTLS, "prepare tls: %w", err)
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
	bound, stop := boundTCP(ctx, conn)
	defer stop()
	defer bound.Close()
	if r.remote = conn.RemoteAddr().String(); address.socket != "" {
		r.remote = address.String()
	}
	peer.conn = bound
	return t.talk(ctx, &peer, r)
}

// talk makes the handshake where it comes first, and asks.
func (t *tcp) talk(ctx context.Context, peer *tcpPeer, r *tcpRound) error {
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
		d := tcpDialogue{conn: peer.conn, secure: func(conn net.Conn) (net.Conn, error) { return r.secure(ctx, conn, peer.tls) }}
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
func (r *tcpRound) secure(ctx context.Context, conn net.Conn, settings *tls.Config) (net.Conn, error) {
	start := time.Now()
	secured := tls.Client(conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		reason := reasonOfTCP(ctx, err)
		if reason == ReasonProtocol {
			reason = ReasonTLS
		}
		return nil, failed(reason, "tls handshake: %w", err)
	}
	r.tls = time.Since(start)
	r.note = "connected with " + tls.VersionName(secured.ConnectionState().Version)
	return secured, nil
}

// login reads the credentials as they are now.
func (t *tcp) login() (*tcpLogin, error) {
	c := &t.config
	if c.Username == "" && c.Password == "" && c.PasswordFile == "" {
		return nil, nil
	}
	login := &tcpLogin{Username: c.Username, Password: c.Password}
	if c.PasswordFile != "" {
		password, err := readClientFile(c.PasswordFile)
		if err != nil {
			return nil, err
		}
		login.Password = Secret(bytes.TrimSpace(password))
	}
	return login, nil
}

// settings makes those of a handshake, nil where there is to be none. Whoever makes it, r
// learns what certificates the server shows.
func (t *tcp) settings(r *tcpRound) (*tls.Config, error) {
	if t.config.TLS == nil && !t.config.startsTLS() {
		return nil, nil
	}
	ca, err := t.config.TLS.trusted()
	if err != nil {
		return nil, err
	}
	settings, err := t.config.TLS.config(ca)
	if err != nil {
		return nil, err
	}
	if settings.ServerName == "" {
		settings.ServerName = t.address.host
	}
	settings.VerifyConnection = func(state tls.ConnectionState) error {
		r.expiry = certificateExpiry(&state)
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
func reasonOfTCP(ctx context.Context, err error) Reason {
	known, ok := errors.AsType[*scrapeError](err)
	switch {
	case err == nil:
		return ""
	case ok:
		return known.reason
	case ctx.Err() != nil:
		return ReasonTimeout
	case errors.Is(err, os.ErrPermission): // of a Unix socket
		return ReasonForbidden
	}
	return reasonOfError(err)
}

// answered says whether a server has come to an answer, for this reason or none.
func answered(reason Reason) bool {
	switch reason {
	case "", ReasonAuth, ReasonForbidden, ReasonNotFound, ReasonClientError, ReasonServerError:
		return true
	}
	return false
}
