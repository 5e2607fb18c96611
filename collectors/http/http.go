// Package http sends an HTTP request and compares the answer with expectations.
package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/text"
)

// maxNote is the length of a note in bytes.
const maxNote = 200

// collector is a collector of the kind http.
type collector struct {
	name     string
	config   Config
	endpoint *endpoint // nil if the URL is configured
	client   client
	expect   *expectations
	format   writeOut
	note     string
	// body is the last body, if an expectation, body_output or the note needs it; its memory is
	// reused.
	body   bytes.Buffer
	bodies *budget.Bodies
	// reading has the memory of the body until the end of the collection; nil without one.
	reading *budget.Reader
}

const (
	// bodyFactor is what a body takes for each of its bytes, with its parts as JSON.
	bodyFactor = 8
	// maxReused is the largest buffer that is kept for the next body, in bytes.
	maxReused = 64 << 10
)

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	if t := c.targets(); t != nil {
		return t.New(env)
	}
	h := &collector{name: env.Name, config: *c, client: client{config: *c, hide: env.Hide}, bodies: env.Bodies}
	var err error
	if h.expect, err = newExpectations(c); err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	h.client.expected = func(status int) bool { return h.expect.checkStatus(status) == "" }
	if h.format, err = parseWriteOut(c.NoteFormat); err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	if c.URLFrom != nil {
		h.endpoint = newEndpoint(c.URLFrom)
	}
	return h, nil
}

// Collect makes one request.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends every connection of the collection
	defer c.reuse()
	a := &answer{method: c.config.Method, trace: &trace{began: time.Now()}}
	secrets, err := c.exchange(ctx, a)
	a.trace.end()
	reason := reason(err)
	if err != nil {
		err = errors.New(text.Short(remote.WithoutSecrets(c.explain(a, err), secrets), collectors.MaxReason))
	}
	c.note = c.noteOf(a, reason, err, secrets)
	if c.config.BodyOutput != "" && a.complete {
		if err := c.writeBody(); err != nil {
			c.note = text.Short(c.note+"; body_output: "+err.Error(), maxNote)
		}
	}

	var b collectors.Batch
	c.export(&b, a, reason)
	return b.Samples, err
}

// Note describes the last answer in the format note_format.
func (c *collector) Note() string { return c.note }

// exchange sends the request and fills in the answer. It returns the secrets of the request.
func (c *collector) exchange(ctx context.Context, a *answer) ([]string, error) {
	target := c.config.URL
	if c.endpoint != nil {
		var err error
		if target, err = c.endpoint.find(ctx); err != nil {
			return nil, collectors.Errorf(remote.ReasonMissingEndpoint, "find endpoint: %w", err)
		}
	}
	req, secrets, err := c.client.request(ctx, target)
	if err != nil {
		return nil, err
	}
	a.url = req.URL
	resp, err := c.client.do(ctx, req, a)
	if resp != nil { // also with the error of a redirect that is not followed
		a.record(resp)
	}
	if err != nil {
		if until := remote.ExpiryOfUnverified(err); !until.IsZero() {
			a.expires = until
		}
		return secrets, a.trace.cause(ended(ctx, remote.WithoutURL(err)))
	}
	defer resp.Body.Close()
	if err := c.read(ctx, resp, a); err != nil {
		return secrets, fmt.Errorf("read body: %w", err)
	}
	a.complete = true
	if c.showsBody() {
		a.shown = c.body.Bytes()
	}
	a.results = c.expect.check(a)
	if c.config.Expect != nil && c.config.Expect.Observe {
		err := failure(a.results[:1], a.status) // the status
		if err != nil {
			a.results = a.results[:1] // an error is not what is observed
		}
		return secrets, err
	}
	return secrets, failure(a.results, a.status)
}

// ended returns the error of a request with the end of the collection's time as its cause. The
// deadline ends the connection, and net/http takes a status line that ends so for a malformed one.
func ended(ctx context.Context, err error) error {
	if over := ctx.Err(); over != nil && remote.ReasonOf(err) == remote.ReasonProtocol {
		return fmt.Errorf("%w: %v", over, err)
	}
	return err
}

// reuse keeps the memory of the body for the next answer, unless it is large.
func (c *collector) reuse() {
	if c.reading != nil {
		c.reading.Release()
		c.reading = nil
	}
	if c.body.Cap() > maxReused {
		c.body = bytes.Buffer{}
	}
}

// explain returns the error with the request and, after a timeout, the phase.
func (c *collector) explain(a *answer, err error) string {
	if a.url == nil {
		return err.Error()
	}
	text := err.Error()
	if reason(err) == remote.ReasonTimeout {
		text = fmt.Sprintf("no answer in time, in the phase %s: %s", a.trace.last().phase(), text)
	}
	if to := a.refused; to != nil {
		text += fmt.Sprintf(" (the redirect to another host is not followed: %.100s)", remote.Origin(to))
	}
	return fmt.Sprintf("%s %s: %s", a.method, redactedURL(a.url), text)
}

// noteOf returns the note: the format, and the reason of a failure.
func (c *collector) noteOf(a *answer, reason remote.Reason, err error, secrets []string) string {
	if a.url == nil {
		return text.Short("000 "+err.Error(), maxNote)
	}
	suffix := ""
	if reason != "" {
		suffix = ": " + string(reason)
	}
	return text.Short(remote.WithoutSecrets(c.format.render(a), secrets), maxNote-len(suffix)) + suffix
}

// redactedURL returns a URL without credentials and query.
func redactedURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.RawQuery != "" {
		return shown.String() + "?..."
	}
	return shown.String()
}

func (c *collector) export(b *collectors.Batch, a *answer, reason remote.Reason) {
	var latency time.Duration
	if a.complete {
		latency = a.trace.total()
	}
	remote.AddDependency(b, c.name, latency, reason)
	durations := a.trace.durations()
	for _, phase := range phases() {
		if took, ok := durations[phase]; ok {
			b.Set(phaseDurationMetric, took.Seconds(), c.name, phase)
		}
	}
	if !a.expires.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(a.expires.Unix()), c.name)
	}
	if a.status == 0 {
		return
	}
	b.Set(statusCodeMetric, float64(a.status), c.name)
	b.Set(versionMetric, a.version, c.name)
	b.Set(tlsMetric, collectors.Number(a.tls), c.name)
	b.Set(redirectsMetric, float64(a.redirects), c.name)
	if a.complete {
		b.Set(responseSizeMetric, float64(a.size), c.name)
	}
	for _, j := range a.results {
		b.Set(expectationMetMetric, collectors.Number(j.text == ""), c.name, j.expectation)
	}
}

// Describe implements Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(discovery.With(defs())) }

// reason returns the reason of an error of a collection.
func reason(err error) remote.Reason {
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return remote.ReasonDNS // the name has no address of the family
	}
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case network && errors.Is(err, syscall.EACCES):
		return remote.ReasonForbidden // a Unix socket of another user
	case network && errors.Is(err, syscall.EADDRNOTAVAIL):
		return remote.ReasonRefused // this host has no address of the family
	}
	return remote.ReasonOf(err)
}
