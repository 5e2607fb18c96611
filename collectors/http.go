package collectors

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
)

// maxHTTPNote is the length of a note in bytes.
const maxHTTPNote = 200

// httpCheck is the collector of the kind http.
type httpCheck struct {
	name     string
	config   HTTPConfig
	endpoint *httpEndpoint // nil where the URL is configured
	client   httpClient
	expect   *httpExpectations
	format   writeOut
	note     string
	// body is what is expected something of; its memory is used again.
	body bytes.Buffer
}

// New implements Kind.
func (c *HTTPConfig) New(env Env) (Collector, error) {
	h := &httpCheck{name: env.Name, config: *c, client: httpClient{config: *c}}
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
func (h *httpCheck) Collect(ctx context.Context) ([]Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends every connection of the round
	a := &httpAnswer{method: h.config.Method, trace: &httpTrace{began: time.Now()}}
	secrets, err := h.ask(ctx, a)
	a.trace.end()
	reason := httpReason(err)
	if err != nil {
		err = errors.New(oneLine(withoutSecrets(h.explain(a, err), secrets), maxReason))
	}
	h.note = h.noted(a, reason, err, secrets)
	if h.config.BodyOutput != "" && a.complete {
		if err := h.writeBody(); err != nil {
			h.note = oneLine(h.note+"; body_output: "+err.Error(), maxHTTPNote)
		}
	}

	var b batch
	h.export(&b, a, reason)
	return b.samples, err
}

// Note says what the last round has seen, as note_format wants it.
func (h *httpCheck) Note() string { return h.note }

// ask fills in the answer, and returns what must not be shown.
func (h *httpCheck) ask(ctx context.Context, a *httpAnswer) ([]string, error) {
	target := h.config.URL
	if h.endpoint != nil {
		var err error
		if target, err = h.endpoint.find(ctx); err != nil {
			return nil, failed(ReasonMissingEndpoint, "find endpoint: %w", err)
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
		if until := expiryOfUnverified(err); !until.IsZero() {
			a.expires = until
		}
		return secrets, a.trace.cause(withoutURL(err))
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
func (h *httpCheck) explain(a *httpAnswer, err error) string {
	if a.url == nil {
		return err.Error()
	}
	text := err.Error()
	if httpReason(err) == ReasonTimeout {
		text = fmt.Sprintf("no answer in time, in the phase %s: %s", a.trace.last().doing(), text)
	}
	if slices.Contains([]int{301, 302, 303, 307, 308}, a.status) && !h.config.FollowRedirects {
		text += " (redirects are not followed)"
	}
	return fmt.Sprintf("%s %s: %s", a.method, shownURL(a.url), text)
}

// noted is the round in a few words: the format, and the reason of a failure.
func (h *httpCheck) noted(a *httpAnswer, reason Reason, err error, secrets []string) string {
	if a.url == nil {
		return oneLine("000 "+err.Error(), maxHTTPNote)
	}
	suffix := ""
	if reason != "" {
		suffix = ": " + string(reason)
	}
	return oneLine(withoutSecrets(h.format.render(a), secrets), maxHTTPNote-len(suffix)) + suffix
}

// shownURL is a URL without what may be secret in it.
func shownURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.RawQuery != "" {
		return shown.String() + "?..."
	}
	return shown.String()
}

func (h *httpCheck) export(b *batch, a *httpAnswer, reason Reason) {
	var latency time.Duration
	if a.complete {
		latency = a.trace.total()
	}
	addDependency(b, h.name, latency, reason)
	durations := a.trace.durations()
	for _, phase := range httpPhases() {
		if took, ok := durations[phase]; ok {
			b.set(httpPhaseDurationMetric, took.Seconds(), h.name, phase)
		}
	}
	if !a.expires.IsZero() {
		b.set(certificateExpiryMetric, float64(a.expires.Unix()), h.name)
	}
	if a.status == 0 {
		return
	}
	b.set(httpStatusCodeMetric, float64(a.status), h.name)
	b.set(httpVersionMetric, a.version, h.name)
	b.set(httpTLSMetric, number(a.tls), h.name)
	b.set(httpRedirectsMetric, float64(a.redirects), h.name)
	if a.complete {
		b.set(httpResponseSizeMetric, float64(a.size), h.name)
	}
	for _, j := range a.judged {
		b.set(httpExpectationMetMetric, number(j.text == ""), h.name, j.expectation)
	}
}

// Describe implements Collector.
func (h *httpCheck) Describe() []Desc { return describe(httpDefs()) }

// httpReason is the reason of an error of a round.
func httpReason(err error) Reason {
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return ReasonDNS // the name has no address of the family
	}
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case network && errors.Is(err, syscall.EACCES):
		return ReasonForbidden // a Unix socket of others
	case network && errors.Is(err, syscall.EADDRNOTAVAIL):
		return ReasonRefused // this host has no address of the family
	}
	return scrapeReason(err)
}
