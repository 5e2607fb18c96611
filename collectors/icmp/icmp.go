// Package icmp sends echo requests to an address and measures the replies.
package icmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	if t := c.targets(); t != nil {
		return t.New(env)
	}
	return &collector{name: env.Name, config: *c, open: open}, nil
}

// collector is a collector of the kind icmp.
type collector struct {
	name   string
	config Config
	// open opens a socket to an address.
	open func(peer netip.Addr) (socket, error)
	note string
}

// Collect sends the requests and waits for the replies.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	result, err := c.ping(ctx)
	if result != nil {
		err = result.failure(c.config.Count)
	}
	reason := collectors.ReasonOf(err, classify)
	var b collectors.Batch
	remote.AddDependency(&b, c.name, result.mean(), reason, reasonPermission)
	if result != nil {
		c.add(&b, result)
	}
	what := "icmp " + c.config.Address
	if err == nil {
		c.note = text.Short(fmt.Sprintf("%s %d of %d replies, %s", what, len(result.trips), c.config.Count, result.mean().Round(time.Microsecond)), collectors.MaxNote)
		return b.Samples, nil
	}
	c.note = text.Short(fmt.Sprintf("%s %s: %v", what, reason, err), collectors.MaxNote)
	return b.Samples, errors.New(text.Short(fmt.Sprintf("ping %s: %v", c.config.Address, err), collectors.MaxReason))
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(discovery.With(defs())) }

// Note returns how many requests were answered, or the reason of the failure.
func (c *collector) Note() string { return c.note }

// ping sends the requests over a new socket. The result is nil if there is no socket.
func (c *collector) ping(ctx context.Context) (*outcome, error) {
	peer, err := c.resolve(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.open(peer)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { _ = s.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	result := ping(ctx, s, c.config.Count, time.Duration(c.config.Interval), int(c.config.PayloadSize))
	return &result, nil
}

// resolve returns the address, or the first one of a name.
func (c *collector) resolve(ctx context.Context) (netip.Addr, error) {
	if ip, err := netip.ParseAddr(c.config.Address); err == nil {
		return ip.Unmap(), nil
	}
	network := "ip" + strings.TrimPrefix(c.config.IPFamily, remote.AnyFamily)
	found, err := net.DefaultResolver.LookupNetIP(ctx, network, c.config.Address)
	switch {
	case err != nil:
		return netip.Addr{}, collectors.Errorf(remote.ReasonDNS, "%w", err)
	case len(found) == 0:
		return netip.Addr{}, collectors.Errorf(remote.ReasonDNS, "lookup %s: no address", c.config.Address)
	}
	return found[0].Unmap(), nil
}

// failure returns why no request was answered, nil if one was.
func (o *outcome) failure(count int) error {
	switch {
	case len(o.trips) > 0:
		return nil
	case o.err != nil:
		if op, ok := errors.AsType[*net.OpError](o.err); ok {
			return op.Err // without the address of this host
		}
		return o.err
	}
	return collectors.Errorf(remote.ReasonTimeout, "no reply to %s", text.Plural(count, "request"))
}

// mean returns the mean time to a reply, zero without one.
func (o *outcome) mean() time.Duration {
	if o == nil || len(o.trips) == 0 {
		return 0
	}
	var sum time.Duration
	for _, t := range o.trips {
		sum += t
	}
	return sum / time.Duration(len(o.trips))
}

// add appends the result.
func (c *collector) add(b *collectors.Batch, o *outcome) {
	count, received := float64(c.config.Count), float64(len(o.trips))
	b.Set(sentMetric, float64(o.sent), c.name)
	b.Set(receivedMetric, received, c.name)
	b.Set(lossMetric, (count-received)/count, c.name)
	if len(o.trips) == 0 {
		return
	}
	b.Set(roundTripLeast, slices.Min(o.trips).Seconds(), c.name)
	b.Set(roundTripMean, o.mean().Seconds(), c.name)
	b.Set(roundTripMost, slices.Max(o.trips).Seconds(), c.name)
	if o.ttl > 0 {
		b.Set(timeToLiveOfOne, float64(o.ttl), c.name)
	}
}

// classify returns the reason of an error of the socket.
func classify(err error) remote.Reason {
	switch {
	case errors.Is(err, os.ErrPermission): // a packet filter or a route of this host
		return remote.ReasonForbidden
	case errors.Is(err, syscall.EADDRNOTAVAIL): // IPv6 is disabled
		return remote.ReasonRefused
	}
	return remote.ReasonOfTransport(err)
}
