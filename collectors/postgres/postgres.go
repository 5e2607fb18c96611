// Package postgres logs in at a PostgreSQL server, checks that it answers, and measures its state
// and the results of queries.
package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// collector is a collector of the kind postgres.
type collector struct {
	name    string
	config  Config
	address remote.Address
	note    string
	// hide is that of Env.
	hide func(...string)
}

// collection is the result of one collection.
type collection struct {
	// username and password are those of the login.
	username string
	password collectors.Secret
	// took is how long the server took until it answered SELECT 1 or reported an error, zero
	// without an answer.
	took time.Duration
	// expiry is zero if the server sent no certificates.
	expiry time.Time
	// remote is the address of the connection, before that the configured one.
	remote string
	// version is what the server reports, and encryption the version of TLS.
	version, encryption string
	// values are those of stateDefs that were measured.
	values map[*collectors.Def]float64
	// outcomes are those of the queries that ran.
	outcomes map[string]query.Outcome
}

// Collect logs in, checks the server once, runs the queries and closes the connection.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	r := collection{remote: c.address.String(), values: map[*collectors.Def]float64{}, outcomes: map[string]query.Outcome{}}
	down, incomplete := c.check(ctx, &r)

	var b collectors.Batch
	reason := remote.ReasonUntil(ctx, down)
	if !answered(reason) {
		r.took = 0
	}
	remote.AddDependency(&b, c.name, r.took, reason, ownReasons()...)
	for _, d := range stateDefs() {
		if value, ok := r.values[d]; ok {
			b.Set(d, value, c.name)
		}
	}
	for _, name := range c.config.Queries.Names() {
		if outcome, ok := r.outcomes[name]; ok {
			c.config.Queries.Add(&b, c.name, name, outcome)
		}
	}
	if until := remote.ExpiryOfUnverified(down); !until.IsZero() {
		r.expiry = until
	}
	if !r.expiry.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(r.expiry.Unix()), c.name)
	}
	return b.Samples, c.conclude(&r, reason, down, incomplete)
}

// conclude sets the note and returns the error of the collection.
func (c *collector) conclude(r *collection, reason remote.Reason, down, incomplete error) error {
	what := "postgres " + r.remote
	if err := errors.Join(down, incomplete); err == nil {
		c.note = text.Short(c.redacted(r, what+" "+r.version+r.encryption), collectors.MaxNote)
		return nil
	}
	first, status := down, string(reason)
	if down == nil {
		first, status = incomplete, "up"
	}
	message := c.redacted(r, first.Error())
	c.note = text.Short(fmt.Sprintf("%s %s: %s", what, status, message), collectors.MaxNote)
	return errors.New(text.Short("check "+what+": "+message, collectors.MaxReason))
}

// redacted returns text without the password: a server may send it back.
func (c *collector) redacted(r *collection, text string) string {
	if r.password == "" {
		return text
	}
	return redact.Values(text, []string{r.password.Value()})
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// Note returns the version of the server, or the reason of the failure.
func (c *collector) Note() string { return c.note }

// check runs one collection. down is the error of a server that is not up, and incomplete that of
// what could not be measured of one that is.
func (c *collector) check(ctx context.Context, r *collection) (down, incomplete error) {
	defer func() { // of the library, on a malformed message
		if e := panics.Of(recover()); e != nil {
			down, incomplete = collectors.Errorf(remote.ReasonProtocol, "malformed message: %v", e.Value), nil
		}
	}()
	if err := c.login(r); err != nil {
		return collectors.Errorf(remote.ReasonAuth, "%w", err), nil
	}
	start := time.Now()
	s, err := c.connect(ctx, r)
	if err != nil {
		r.took = time.Since(start)
		return err, nil
	}
	defer s.close(ctx)
	err = s.alive(ctx)
	r.took = time.Since(start)
	if err != nil {
		return err, nil
	}
	r.version = s.conn.ParameterStatus("server_version")
	incomplete = s.measure(ctx, r)
	if c.config.TargetSessionAttrs == readWrite {
		if incomplete != nil {
			return incomplete, nil
		}
		if r.values[readOnlyMetric] == 1 {
			down = collectors.Errorf(query.ReasonReadOnly, "the server is read-only: expected one that accepts changes")
		}
	}
	return down, errors.Join(incomplete, s.run(ctx, c.config.Queries, r))
}

// login sets the user, and the password that the file holds now.
func (c *collector) login(r *collection) error {
	if r.username = c.config.Username; r.username == "" {
		own, err := user.Current()
		if err != nil {
			return fmt.Errorf("no username is configured, and that of this process is unknown: %w", err)
		}
		r.username = own.Username
	}
	if c.config.PasswordFile == "" {
		return nil
	}
	password, err := remote.ReadClientFile(c.config.PasswordFile)
	if err != nil {
		return fmt.Errorf("read password: %w", err)
	}
	r.password = collectors.Secret(bytes.TrimSpace(password))
	c.hide(r.password.Value())
	return nil
}

// answered reports whether a collection with this reason, or none, got a complete answer.
func answered(reason remote.Reason) bool {
	switch reason {
	case "", remote.ReasonAuth, remote.ReasonForbidden, remote.ReasonNotFound, remote.ReasonClientError, remote.ReasonServerError,
		reasonTooManyConnections, reasonStartingUp, query.ReasonReadOnly:
		return true
	}
	return false
}
