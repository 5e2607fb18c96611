// Package http sends an HTTP request and compares the answer with expectations.
package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// maxHTTPNote is the length of a note in bytes.
const maxHTTPNote = 200

// check is the collector of the kind http.
type check struct {
	name     string
	config   Config
	endpoint *endpoint // nil where the URL is configured
	client   client
	expect   *expectations
	format   writeOut
	note     string
	// body is what is expected something of; its memory is used again.
	body bytes.Buffer
}

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	h := &check{name: env.Name, config: *c, client: client{config: *c}}
	var err error
	if h.expect, err = newHTTPExpectations(c); err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	if h.format, err = parseWriteOut(c.NoteFormat); err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	if c.URLFrom != nil {
		h.endpoint = newHTTPEndpoint(c.URLFrom)
	}
	return h, nil
}

// Collect makes one request.
func (h *check) Collect(ctx context.Context) ([]collectors.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends every connection of the round
	a := &answer{method: h.config.Method, trace: &trace{began: time.Now()}}
	secrets, err := h.ask(ctx, a)
	a.trace.end()
	reason := reason(err)
	if err != nil {
		err = errors.New(collectors.OneLine(remote.WithoutSecrets(h.explain(a, err), secrets), collectors.MaxReason))
	}
	h.note = h.noted(a, reason, err, secrets)
	if h.config.BodyOutput != "" && a.complete {
		if err := h.writeBody(); err != nil {
			h.note = collectors.OneLine(h.note+"; body_output: "+err.Error(), maxHTTPNote)
		}
	}

	var b collectors.Batch
	h.export(&b, a, reason)
	return b.Samples, err
}

// Note says what the last round has seen, as note_format wants it.
func (h *check) Note() string { return h.note }

// ask fills in the answer, and returns what must not be shown.
func (h *check) ask(ctx context.Context, a *answer) ([]string, error) {
	target := h.config.URL
	if h.endpoint != nil {
		var err error
		if target, err = h.endpoint.find(ctx); err != nil {
			return nil, collectors.Errorf(remote.ReasonMissingEndpoint, "find endpoint: %w", err)
		}
	}
	req, secrets, err := h.client.request(ctx, target)
	if err != nil {
		return nil, err
	}
	a.url = req.URL
	resp, err := h.client.do(ctx, req, a.trace, &a.redirects)
	if resp != nil { // also beside the error of a redirect that is not followed
		a.seen(resp)
	}
	if err != nil {
		if until := remote.ExpiryOfUnverified(err); !until.IsZero() {
			a.expires = until
		}
		return secrets, a.trace.cause(remote.WithoutURL(err))
	}
	defer resp.Body.Close()
	if err := h.read(resp, a); err != nil {
		return secrets, fmt.Errorf("read body: %w", err)
	}
	a.complete = true
	a.judged = h.expect.judge(a)
	return secrets, a.unmet()
}

// explain says what was tried and what went wrong.
func (h *check) explain(a *answer, err error) string {
	if a.url == nil {
		return err.Error()
	}
	text := err.Error()
	if reason(err) == remote.ReasonTimeout {
		text = fmt.Sprintf("no answer in time, in the phase %s: %s", a.trace.last().doing(), text)
	}
	if slices.Contains([]int{301, 302, 303, 307, 308}, a.status) && !h.config.FollowRedirects {
		text += " (redirects are not followed)"
	}
	return fmt.Sprintf("%s %s: %s", a.method, shownURL(a.url), text)
}

// noted is the round in a few words: the format, and the reason of a failure.
func (h *check) noted(a *answer, reason remote.Reason, err error, secrets []string) string {
	if a.url == nil {
		return collectors.OneLine("000 "+err.Error(), maxHTTPNote)
	}
	suffix := ""
	if reason != "" {
		suffix = ": " + string(reason)
	}
	return collectors.OneLine(remote.WithoutSecrets(h.format.render(a), secrets), maxHTTPNote-len(suffix)) + suffix
}

// shownURL is a URL without what may be secret in it.
func shownURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.RawQuery != "" {
		return shown.String() + "?..."
	}
	return shown.String()
}

func (h *check) export(b *collectors.Batch, a *answer, reason remote.Reason) {
	var latency time.Duration
	if a.complete {
		latency = a.trace.total()
	}
	remote.AddDependency(b, h.name, latency, reason)
	durations := a.trace.durations()
	for _, phase := range phases() {
		if took, ok := durations[phase]; ok {
			b.Set(phaseDurationMetric, took.Seconds(), h.name, phase)
		}
	}
	if !a.expires.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(a.expires.Unix()), h.name)
	}
	if a.status == 0 {
		return
	}
	b.Set(statusCodeMetric, float64(a.status), h.name)
	b.Set(versionMetric, a.version, h.name)
	b.Set(tlsMetric, collectors.Number(a.tls), h.name)
	b.Set(redirectsMetric, float64(a.redirects), h.name)
	if a.complete {
		b.Set(responseSizeMetric, float64(a.size), h.name)
	}
	for _, j := range a.judged {
		b.Set(expectationMetMetric, collectors.Number(j.text == ""), h.name, j.expectation)
	}
}

// Describe implements Collector.
func (h *check) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// reason is the reason of an error of a round.
func reason(err error) remote.Reason {
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return remote.ReasonDNS // the name has no address of the family
	}
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case network && errors.Is(err, syscall.EACCES):
		return remote.ReasonForbidden // a Unix socket of others
	case network && errors.Is(err, syscall.EADDRNOTAVAIL):
		return remote.ReasonRefused // this host has no address of the family
	}
	return remote.ReasonOf(err)
}
