package icmp

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// maxCount bounds the echo requests of one collection.
	maxCount = 100
	// tokenSize is the size in bytes of the random number in a request, the least payload.
	tokenSize = 8
	// maxPayload is the largest payload of an echo request in bytes: 65,535 less the headers of
	// IPv4 and ICMP.
	maxPayload = 65507
)

// Config configures the kind icmp: echo requests to one address.
type Config struct {
	// Address is a host's name or an IP address.
	Address string `yaml:"address"`
	// Several has several addresses in place of Address.
	discovery.Several `yaml:",inline"`
	// IPFamily is any, 4 or 6.
	IPFamily string `yaml:"ip_family,omitempty"`
	// Count is the number of requests of one collection.
	Count int `yaml:"count,omitempty"`
	// Interval is the time between two requests of one collection.
	Interval model.Duration `yaml:"interval,omitempty"`
	// PayloadSize is the size of the data in a request.
	PayloadSize collectors.Size `yaml:"payload_size,omitempty"`
}

// SetDefaults sets the defaults of the block before it is decoded.
func (c *Config) SetDefaults() {
	c.IPFamily, c.Count, c.PayloadSize = remote.AnyFamily, 3, 56 // the payload of ping(8)
	c.Interval = model.Duration(200 * time.Millisecond)
}

// TargetNames implements collectors.Several.
func (c *Config) TargetNames(collector string) ([]collectors.TargetName, bool) {
	return c.targets().Names(collector)
}

// targets returns the targets, nil if there is only one.
func (c *Config) targets() *discovery.Targets {
	return c.Of(discovery.Plan{Key: "address", Set: c.Address != "", Label: "dependency", Example: "target.example", Portless: true, One: func(address string) collectors.Kind {
		one := *c
		one.Several, one.Address = discovery.Several{}, address
		return &one
	}})
}

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	if t := c.targets(); t != nil {
		return t.Problems()
	}
	var problems []collectors.Problem
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	_, err := netip.ParseAddr(c.Address)
	switch {
	case c.Address == "" || err != nil && strings.ContainsAny(c.Address, ":/@[]% "):
		add("address", "address %q: expected a host or an IP address, without a port: gateway.example, 10.0.0.1, 2001:db8::1", c.Address)
	case !slices.Contains([]string{remote.AnyFamily, "4", "6"}, c.IPFamily):
		add("ip_family", "ip_family %q: expected any, 4 or 6", c.IPFamily)
	case !remote.Address{Host: c.Address}.OfFamily(c.IPFamily):
		add("ip_family", "ip_family %s: expected an address of that family, not %s", c.IPFamily, c.Address)
	}
	if c.Count < 1 || c.Count > maxCount {
		add("count", "count %d: expected 1 to %d", c.Count, maxCount)
	}
	if c.Interval <= 0 {
		add("interval", "interval %s: expected more than 0s", c.Interval)
	}
	if c.PayloadSize < tokenSize || c.PayloadSize > maxPayload {
		add("payload_size", "payload_size %d: expected %d to %d bytes", int64(c.PayloadSize), tokenSize, maxPayload)
	}
	return problems
}

// External implements collectors.Kind.
func (c *Config) External() bool {
	if t := c.targets(); t != nil {
		return t.External()
	}
	return !remote.LocalHost(c.Address)
}

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements collectors.Targeted.
func (c *Config) ConfigurableTarget() {}
