// Package netlink checks whether the kernel answers netlink requests about network links.
package netlink

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// The values of Config.Socket and Config.WriteTest.
const (
	fresh = "fresh"
	held  = "held"

	off    = "off"
	dummy  = "dummy"
	veth   = "veth"
	bridge = "bridge"
)

// Config configures the kind netlink: a list of the links of a network namespace, a
// check of some of them, and a write test.
type Config struct {
	// NetNS is the absolute path of a network namespace, such as /run/netns/x or
	// /proc/PID/ns/net. Empty is the namespace of this process.
	NetNS string `yaml:"netns,omitempty"`
	// Interfaces are names or alternative names of links.
	Interfaces []string `yaml:"interfaces,omitempty"`
	// Socket is fresh (one for each collection) or held (kept between collections).
	Socket string `yaml:"socket"`
	// WriteTest is the type of the link that each collection creates and deletes:
	// dummy, veth, bridge, or off.
	WriteTest string `yaml:"write_test"`
}

// SetDefaults sets the defaults of a block before it is decoded.
func (c *Config) SetDefaults() {
	c.Socket, c.WriteTest = fresh, off
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	if c.NetNS != "" && !filepath.IsAbs(c.NetNS) {
		problems = append(problems, collectors.Problem{Path: "netns", Text: fmt.Sprintf("path %q: expected an absolute path", c.NetNS)})
	}
	for i, name := range c.Interfaces {
		path := fmt.Sprintf("interfaces[%d]", i)
		if !validLinkName(name) {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("interface %q: expected 1 to 127 bytes without blanks, '/' and ':'", name)})
		}
		if slices.Index(c.Interfaces, name) < i {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("interface %q is named twice", name)})
		}
	}
	for _, choice := range []struct {
		key, value string
		allowed    []string
	}{
		{"socket", c.Socket, []string{fresh, held}},
		{"write_test", c.WriteTest, []string{off, dummy, veth, bridge}},
	} {
		if !slices.Contains(choice.allowed, choice.value) {
			problems = append(problems, collectors.Problem{Path: choice.key, Text: fmt.Sprintf("%s %q: expected one of %s", choice.key, choice.value, strings.Join(choice.allowed, ", "))})
		}
	}
	return problems
}

// validLinkName is dev_valid_name of the kernel's net/core/dev.c, with the length of
// alternative names (ALTIFNAMSIZ in linux/if.h).
func validLinkName(name string) bool {
	return name != "" && len(name) < 128 && name != "." && name != ".." && !strings.ContainsAny(name, "/: \t\n\v\f\r")
}

// writes reports whether links are created and deleted.
func (c *Config) writes() bool { return c.WriteTest != "" && c.WriteTest != off }

// External implements Kind: the kernel is on this host.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind. It returns an error on every system but Linux.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	return newCollector(env.Name, *c)
}

// reason is the reason why a request failed. The set is closed, because it is a label.
type reason string

const (
	timeout     reason = "timeout"     // no answer in time
	forbidden   reason = "forbidden"   // a missing permission
	overflow    reason = "overflow"    // a full buffer, no memory or no free descriptor
	interrupted reason = "interrupted" // the links changed during each list
	namespace   reason = "namespace"   // the network namespace does not exist
	unsupported reason = "unsupported" // the kernel or the sandbox does not support it
	protocol    reason = "protocol"    // an invalid answer, and all other errors
)

// reasons are all reasons, in the order in which they are exported.
func reasons() []reason {
	return []reason{
		timeout, forbidden, overflow, interrupted,
		namespace, unsupported, protocol,
	}
}
