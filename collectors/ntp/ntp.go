// Package ntp queries an NTP server and compares its clock with that of this host.
package ntp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	client "github.com/beevik/ntp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/text"
)

// defaultPort is the port of NTP.
const defaultPort = "123"

// Config configures the kind ntp.
type Config struct {
	// Server is a host with or without a port.
	Server string `yaml:"server"`
}

// parseServer returns the host and the port of a server: host, host:port, an address of IPv6 or
// [address]:port.
func parseServer(server string) (host, port string, err error) {
	host, port = server, defaultPort
	if strings.Count(server, ":") == 1 || strings.HasPrefix(server, "[") {
		if host, port, err = net.SplitHostPort(server); err != nil {
			host = ""
		}
	}
	colons := strings.Contains(host, ":")
	if host == "" || strings.ContainsAny(host, "/@[] ") || colons && net.ParseIP(host) == nil || !remote.ValidPort(port) {
		return "", "", fmt.Errorf("expected a host, with a port or without: ntp.example, 10.0.0.1:123, [2001:db8::1]:123")
	}
	return host, port, nil
}

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	if _, _, err := parseServer(c.Server); err != nil {
		return []collectors.Problem{{Path: "server", Text: fmt.Sprintf("server %q: %v", c.Server, err)}}
	}
	return nil
}

// External implements collectors.Kind. A server on loopback, such as a local chronyd, is on this host.
func (c *Config) External() bool {
	host, _, err := parseServer(c.Server)
	return err != nil || !remote.LocalHost(host)
}

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements collectors.Targeted.
func (c *Config) ConfigurableTarget() {}

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	host, port, err := parseServer(c.Server)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", c.Server, err)
	}
	return &collector{name: env.Name, address: net.JoinHostPort(host, port)}, nil
}

// collector is a collector of the kind ntp.
type collector struct{ name, address, note string }

// Collect queries the server once.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	start := time.Now()
	response, err := c.query(ctx)
	took := time.Since(start)
	if response == nil {
		took = 0
	} else {
		err = failure(response)
	}
	reason := remote.ReasonUntil(ctx, err)
	var b collectors.Batch
	remote.AddDependency(&b, c.name, took, reason)
	if response != nil {
		c.add(&b, response, err == nil)
	}
	what := "ntp " + c.address
	if err == nil {
		c.note = text.Short(fmt.Sprintf("%s offset %s, stratum %d", what, response.ClockOffset.Round(time.Microsecond), response.Stratum), collectors.MaxNote)
		return b.Samples, nil
	}
	c.note = text.Short(fmt.Sprintf("%s %s: %v", what, reason, err), collectors.MaxNote)
	return b.Samples, errors.New(text.Short(fmt.Sprintf("query %s: %v", what, err), collectors.MaxReason))
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// Note returns the offset of the last response, or the reason of the failure.
func (c *collector) Note() string { return c.note }

// query connects and sends one query.
func (c *collector) query(ctx context.Context) (*client.Response, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", c.address)
	if err != nil {
		return nil, err
	}
	_, stop := remote.Bound(ctx, conn, 0) // the library reads one datagram from conn itself
	defer stop()
	return exchange(ctx, conn)
}

// exchange sends one query over the connection, and closes it. The library reads the time of
// arrival from the kernel if conn is a *net.UDPConn. It panics on a poll interval or a precision of
// 2^-128 seconds, which then is an error.
func exchange(ctx context.Context, conn net.Conn) (_ *client.Response, err error) {
	defer panics.Into(&err)
	options := client.QueryOptions{Dialer: func(string, string) (net.Conn, error) { return conn, nil }}
	if until, ok := ctx.Deadline(); ok {
		options.Timeout = max(1, time.Until(until))
	}
	return client.QueryWithOptions(conn.RemoteAddr().String(), options)
}

// failure returns why the time of a response cannot be used, nil if it can.
func failure(r *client.Response) error {
	refusals := []string{"DENY", "RATE", "RSTR"} // RFC 5905 section 7.4
	switch {
	case r.IsKissOfDeath() && slices.Contains(refusals, r.KissCode):
		return collectors.Errorf(remote.ReasonForbidden, "the server refuses the query (%s)", r.KissCode)
	case r.Leap == client.LeapNotInSync:
		return collectors.Errorf(remote.ReasonServerError, "the server is not synchronized")
	}
	if err := r.Validate(); err != nil {
		return collectors.Errorf(remote.ReasonServerError, "the server has no usable time: %w", err)
	}
	return nil
}

// add appends what a response has. A time that cannot be used has no offset.
func (c *collector) add(b *collectors.Batch, r *client.Response, usable bool) {
	for i, leap := range leaps() {
		b.Set(leapMetric, collectors.Number(i == int(r.Leap)), c.name, leap)
	}
	b.Set(stratumMetric, float64(r.Stratum), c.name)
	if !usable {
		return
	}
	b.Set(offsetMetric, r.ClockOffset.Seconds(), c.name)
	b.Set(roundTripMetric, r.RTT.Seconds(), c.name)
	b.Set(rootDistanceMetric, r.RootDistance.Seconds(), c.name)
	b.Set(referenceMetric, collectors.EpochSeconds(r.ReferenceTime), c.name)
}
