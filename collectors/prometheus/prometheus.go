// Package prometheus runs instant queries at a Prometheus-compatible server.
package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/text"
)

// checkQuery is the expression of the check. It reads no series.
const checkQuery = "1"

// collector is a collector of the kind prometheus.
type collector struct {
	name   string
	config Config
	base   *url.URL
	bodies *budget.Bodies
	// hide is that of Env.
	hide func(...string)
	note string
}

// collection is the result of one collection.
type collection struct {
	// took is how long the server took to answer the check, zero without an answer.
	took time.Duration
	// outcomes and answers are those of the queries that ran.
	outcomes map[string]query.Outcome
	answers  map[string]answer
}

// Collect checks the server and runs the queries, one after the other.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the connection
	r := collection{outcomes: map[string]query.Outcome{}, answers: map[string]answer{}}
	s, down := c.open(ctx)
	var incomplete error
	if down == nil {
		defer s.client.CloseIdleConnections()
		if down = c.check(ctx, s, &r); down == nil {
			incomplete = c.run(ctx, s, &r)
		}
	}

	var b collectors.Batch
	reason := remote.ReasonOf(down)
	remote.AddDependency(&b, c.name, r.took, reason)
	rows := c.config.rows()
	for _, name := range rows.Names() {
		outcome, ok := r.outcomes[name]
		if !ok {
			continue
		}
		rows.Add(&b, c.name, name, outcome)
		if outcome.Err == nil {
			b.Set(warningsMetric, float64(r.answers[name].count), c.name, name)
		}
	}
	if !s.expiry.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(s.expiry.Unix()), c.name)
	}
	return b.Samples, c.conclude(s, &r, reason, errors.Join(down, incomplete))
}

// check runs a query that reads no series.
func (c *collector) check(ctx context.Context, s *session, r *collection) error {
	start := time.Now()
	_, err := s.query(ctx, checkQuery, query.Left(ctx))
	if s.answered {
		r.took = time.Since(start)
	}
	return err
}

// run runs the queries, and returns the error of the first that failed.
func (c *collector) run(ctx context.Context, s *session, r *collection) error {
	var first error
	names := c.config.rows().Names()
	for i, name := range names {
		q := c.config.Queries[name]
		start := time.Now()
		a, err := s.query(ctx, q.Expr, query.Share(query.Left(ctx), len(names)-i))
		outcome := query.Outcome{Result: query.Query{Labels: q.Labels}.Series(), Took: time.Since(start), Err: err}
		for _, one := range a.series {
			if outcome.Err == nil {
				outcome.Err = outcome.Result.AddSeries(one.labels, one.value)
			}
		}
		r.outcomes[name], r.answers[name] = outcome, a
		if outcome.Err != nil && first == nil {
			first = fmt.Errorf("query %s: %w", name, outcome.Err)
		}
	}
	return first
}

// conclude sets the note and returns the error of the collection.
func (c *collector) conclude(s *session, r *collection, reason remote.Reason, err error) error {
	shown := url.URL{Scheme: c.base.Scheme, Host: c.base.Host, Path: c.base.Path}
	what := "prometheus " + remote.WithoutSecrets(shown.String(), s.secrets)
	status := "up"
	if reason != "" {
		status = string(reason)
	}
	parts := []string{what + " " + status}
	if err != nil {
		err = errors.New(remote.WithoutSecrets(err.Error(), s.secrets))
		parts = append(parts, err.Error())
		err = errors.New(text.Short("query "+what+": "+err.Error(), collectors.MaxReason))
	}
	for _, name := range c.config.rows().Names() {
		for _, warning := range r.answers[name].warnings {
			parts = append(parts, "warning of "+name+": "+remote.WithoutSecrets(warning, s.secrets))
		}
	}
	c.note = text.Short(strings.Join(parts, ": "), collectors.MaxNote)
	return err
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// Note returns the URL of the server, the reason of a failure, and the warnings of the server.
func (c *collector) Note() string { return c.note }
