// Package dns sends one query to a DNS server and measures the response.
package dns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

// collector is a collector of the kind dns.
type collector struct {
	name     string
	config   Config
	question dnsmessage.Question
	// server is not valid if that of resolvConf is queried.
	server     netip.AddrPort
	resolvConf string
	// wanted are the expected answers in their canonical form, in the order of the
	// configuration.
	wanted []string
	match  *regexp.Regexp // nil without one
	note   string
}

// Collect sends the query once.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	start := time.Now()
	server, a, err := c.resolve(ctx)
	took := time.Since(start)
	if a == nil {
		took = 0
	} else {
		err = a.failure()
	}
	reason := remote.ReasonUntil(ctx, err)
	var b collectors.Batch
	remote.AddDependency(&b, c.name, took, reason)
	if a != nil {
		c.add(&b, a)
	}
	what := "dns " + c.config.Type + " " + c.config.Name
	if server.IsValid() {
		what += " at " + server.String()
	}
	if err == nil {
		c.note = text.Short(what+" "+strings.Join(a.data, ", "), collectors.MaxNote)
		return b.Samples, nil
	}
	c.note = text.Short(fmt.Sprintf("%s %s: %v", what, reason, err), collectors.MaxNote)
	return b.Samples, errors.New(text.Short(fmt.Sprintf("query %s: %v", what, err), collectors.MaxReason))
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(discovery.With(defs())) }

// Note returns the records of the last response, or the reason of the failure.
func (c *collector) Note() string { return c.note }

// resolve queries the server. A response that is truncated over UDP is requested again over TCP.
func (c *collector) resolve(ctx context.Context) (netip.AddrPort, *answer, error) {
	server := c.server
	if !server.IsValid() {
		conf, err := remote.ReadClientFile(c.resolvConf)
		if err == nil {
			server, err = firstServer(string(conf))
		}
		if err != nil {
			return server, nil, collectors.Errorf(remote.ReasonMissingEndpoint, "find a server in %s: %w", c.resolvConf, err)
		}
	}
	a, err := c.exchange(ctx, c.config.Protocol, server)
	if err == nil && a.header.Truncated && c.config.Protocol == protocolUDP {
		if a, err = c.exchange(ctx, protocolTCP, server); err != nil {
			return server, nil, fmt.Errorf("over TCP after a truncated response: %w", err)
		}
	}
	return server, a, err
}

// add appends what a response has.
func (c *collector) add(b *collectors.Batch, a *answer) {
	for _, code := range rcodes() {
		b.Set(rcodeMetric, collectors.Number(code == a.rcode()), c.name, string(code))
	}
	b.Set(answersMetric, float64(len(a.data)), c.name)
	var got []string
	matching := 0
	for _, data := range a.data {
		form, err := canonical(c.question.Type, data)
		if err != nil {
			form = data
		}
		got = append(got, form)
		if c.match != nil && c.match.MatchString(data) {
			matching++
		}
	}
	for i, want := range c.wanted {
		b.Set(presentMetric, collectors.Number(slices.Contains(got, want)), c.name, c.config.Answers[i])
	}
	if len(c.wanted) > 0 {
		unexpected := slices.DeleteFunc(got, func(form string) bool { return slices.Contains(c.wanted, form) })
		b.Set(unexpectedMetric, float64(len(unexpected)), c.name)
	}
	if c.match != nil {
		b.Set(matchingMetric, float64(matching), c.name)
	}
	if len(a.data) > 0 {
		b.Set(ttlMetric, a.ttl.Seconds(), c.name)
		if c.question.Type == dnsmessage.TypeSOA {
			b.Set(serialMetric, float64(a.serial), c.name)
		}
	}
	b.Set(authenticatedMetric, collectors.Number(a.header.AuthenticData), c.name)
	b.Set(authoritativeMetric, collectors.Number(a.header.Authoritative), c.name)
}
