// Package lines has what the kinds of servers share whose answers are lines: the configuration,
// the connection with its bounds, and the outcome of a collection.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// maxRead bounds how many bytes, with those of TLS, a collection reads from its server.
const maxRead = 1 << 20

// check connects to a server once in each collection. It is not safe for concurrent use.
type check struct {
	name    string
	kind    Kind
	server  Server
	address remote.Address
	hide    func(...string)
	note    string
}

// Kind is what only one kind of servers has.
type Kind struct {
	// What is the protocol, with which the note begins.
	What string
	// Reasons are the reasons that only this kind has.
	Reasons []remote.Reason
	// Metrics are those that Talk adds.
	Metrics []*collectors.Def
	// Talk queries the server. down is the error of a server that is not up, and incomplete that of
	// what could not be measured of one that is.
	Talk func(s *Session) (down, incomplete error)
}

// NewCollector returns the collector of a server.
func (s *Server) NewCollector(env collectors.Env, of Kind) (collectors.Collector, error) {
	address, err := remote.ParseAddress(s.Address)
	if err != nil {
		return nil, err
	}
	return &check{name: env.Name, kind: of, server: *s, address: address, hide: env.Hide}, nil
}

// Session is a connection during one collection.
type Session struct {
	*Conn
	Username string
	// Password is what its file holds now.
	Password collectors.Secret
	// Note is added to the note of a collection without an error.
	Note string
	// Batch has the samples that Measured added.
	Batch collectors.Batch

	name   string
	start  time.Time
	took   time.Duration
	expiry time.Time
	remote string
}

// Answered ends the time that the server took. Without a call, there is no latency.
func (s *Session) Answered() {
	if s.took == 0 {
		s.took = time.Since(s.start)
	}
}

// Measured adds a sample with the label of the collector's name, and with the values of further labels.
func (s *Session) Measured(def *collectors.Def, value float64, labels ...string) {
	s.Batch.Set(def, value, append([]string{s.name}, labels...)...)
}

// Redacted returns text without the password: a server may send it back.
func (s *Session) Redacted(text string) string {
	if s.Password == "" {
		return text
	}
	return redact.Values(text, []string{s.Password.Value()})
}

// Collect connects, calls Talk of the kind and closes the connection.
func (c *check) Collect(ctx context.Context) ([]collectors.Sample, error) {
	s := &Session{name: c.name, start: time.Now(), remote: c.address.String()}
	down, incomplete := c.run(ctx, s)
	reason := remote.ReasonUntil(ctx, down)
	remote.AddDependency(&s.Batch, c.name, s.took, reason, c.kind.Reasons...)
	if until := remote.ExpiryOfUnverified(down); !until.IsZero() {
		s.expiry = until
	}
	if !s.expiry.IsZero() {
		s.Batch.Set(remote.CertificateExpiryMetric, float64(s.expiry.Unix()), c.name)
	}
	return s.Batch.Samples, c.conclude(s, reason, down, incomplete)
}

// conclude sets the note and returns the error of the collection.
func (c *check) conclude(s *Session, reason remote.Reason, down, incomplete error) error {
	what := c.kind.What + " " + s.remote
	first, status := down, string(reason)
	if down == nil {
		first, status = incomplete, "up"
	}
	if first == nil {
		c.note = text.Short(s.Redacted(what+" "+s.Note), collectors.MaxNote)
		return nil
	}
	message := s.Redacted(first.Error())
	c.note = text.Short(fmt.Sprintf("%s %s: %s", what, status, message), collectors.MaxNote)
	return errors.New(text.Short("check "+what+": "+message, collectors.MaxReason))
}

// Describe lists the metrics that Collect exports.
func (c *check) Describe() []collectors.Desc { return collectors.Describe(c.kind.Metrics) }

// Note returns what the server answered, or the reason of the failure.
func (c *check) Note() string { return c.note }

func (c *check) run(ctx context.Context, s *Session) (down, incomplete error) {
	if err := c.login(s); err != nil {
		return collectors.Errorf(remote.ReasonAuth, "read password: %w", err), nil
	}
	address, err := c.address.Found()
	if err != nil {
		return err, nil
	}
	conn, _, _, err := address.Dial(ctx, c.server.IPFamily)
	if err != nil {
		return err, nil
	}
	bound, stop := remote.Bound(ctx, conn, maxRead)
	defer stop()
	defer bound.Close()
	if s.remote = conn.RemoteAddr().String(); address.Socket != "" {
		s.remote = address.String()
	}
	secured := net.Conn(bound)
	if c.server.TLS != nil {
		settings, err := c.server.TLS.Client(c.address.Host, func(expiry time.Time) { s.expiry = expiry })
		if err != nil {
			return collectors.Errorf(remote.ReasonTLS, "prepare tls: %w", err), nil
		}
		if secured, err = remote.Secure(ctx, bound, settings); err != nil {
			return err, nil
		}
		defer secured.Close()
	}
	s.Conn = New(secured)
	return c.kind.Talk(s)
}

// login sets the credentials, with the password that the file holds now.
func (c *check) login(s *Session) error {
	s.Username, s.Password = c.server.Username, c.server.Password
	if c.server.PasswordFile == "" {
		return nil
	}
	password, err := remote.ReadClientFile(c.server.PasswordFile)
	if err != nil {
		return err
	}
	s.Password = collectors.Secret(bytes.TrimSpace(password))
	c.hide(s.Password.Value())
	return nil
}
