package collectors

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The values of NetlinkConfig.Socket and NetlinkConfig.WriteTest.
const (
	netlinkFresh = "fresh"
	netlinkHeld  = "held"

	netlinkOff    = "off"
	netlinkDummy  = "dummy"
	netlinkVeth   = "veth"
	netlinkBridge = "bridge"
)

// NetlinkConfig configures the kind netlink: whether the kernel lists the links of a
// network namespace, whether certain ones are there and up, and whether links can be
// made.
type NetlinkConfig struct {
	// NetNS is the absolute path of a network namespace, such as /run/netns/x or
	// /proc/PID/ns/net; the own one where it is not set.
	NetNS string `yaml:"netns,omitempty"`
	// Interfaces are names of links, alternative names among them.
	Interfaces []string `yaml:"interfaces,omitempty"`
	// Socket is fresh (one a round) or held (from round to round).
	Socket string `yaml:"socket"`
	// WriteTest is the type of the link that every round makes and deletes: dummy,
	// veth, bridge, or off.
	WriteTest string `yaml:"write_test"`
}

// SetDefaults sets what a block has before it is decoded.
func (c *NetlinkConfig) SetDefaults() {
	c.Socket, c.WriteTest = netlinkFresh, netlinkOff
}

// Problems implements Kind.
func (c *NetlinkConfig) Problems() []Problem {
	var problems []Problem
	if c.NetNS != "" && !filepath.IsAbs(c.NetNS) {
		problems = append(problems, Problem{"netns", fmt.Sprintf("path %q: expected an absolute path", c.NetNS)})
	}
	for i, name := range c.Interfaces {
		path := fmt.Sprintf("interfaces[%d]", i)
		if !validLinkName(name) {
			problems = append(problems, Problem{path, fmt.Sprintf("interface %q: expected 1 to 127 bytes without blanks, '/' and ':'", name)})
		}
		if slices.Index(c.Interfaces, name) < i {
			problems = append(problems, Problem{path, fmt.Sprintf("interface %q is named twice", name)})
		}
	}
	for _, choice := range []struct {
		key, value string
		allowed    []string
	}{
		{"socket", c.Socket, []string{netlinkFresh, netlinkHeld}},
		{"write_test", c.WriteTest, []string{netlinkOff, netlinkDummy, netlinkVeth, netlinkBridge}},
	} {
		if !slices.Contains(choice.allowed, choice.value) {
			problems = append(problems, Problem{choice.key, fmt.Sprintf("%s %q: expected one of %s", choice.key, choice.value, strings.Join(choice.allowed, ", "))})
		}
	}
	return problems
}

// validLinkName is dev_valid_name of the kernel's net/core/dev.c, with the length of
// alternative names (ALTIFNAMSIZ in linux/if.h).
func validLinkName(name string) bool {
	return name != "" && len(name) < 128 && name != "." && name != ".." && !strings.ContainsAny(name, "/: \t\n\v\f\r")
}

// writes says whether links are made and deleted.
func (c *NetlinkConfig) writes() bool { return c.WriteTest != "" && c.WriteTest != netlinkOff }

// External implements Kind: the kernel is on this host.
func (c *NetlinkConfig) External() bool { return false }

// Uses implements Kind.
func (c *NetlinkConfig) Uses() []string { return nil }

// New implements Kind. It returns an error on every system but Linux.
func (c *NetlinkConfig) New(env Env) (Collector, error) { return newNetlink(env.Name, *c) }

// netlinkReason says why the kernel did not do what it was asked for. The set is
// closed, because it is a label.
type netlinkReason string

const (
	netlinkTimeout     netlinkReason = "timeout"     // no answer in time
	netlinkForbidden   netlinkReason = "forbidden"   // the permission is missing
	netlinkOverflow    netlinkReason = "overflow"    // no room: a full buffer, no memory, no descriptor left
	netlinkInterrupted netlinkReason = "interrupted" // the links changed in each try
	netlinkNamespace   netlinkReason = "namespace"   // the network namespace is not there
	netlinkUnsupported netlinkReason = "unsupported" // the kernel, or what stands for it, cannot do it
	netlinkProtocol    netlinkReason = "protocol"    // an answer that makes no sense, and all else
)

// netlinkReasons are all reasons, in the order in which they are exported.
func netlinkReasons() []netlinkReason {
	return []netlinkReason{
		netlinkTimeout, netlinkForbidden, netlinkOverflow, netlinkInterrupted,
		netlinkNamespace, netlinkUnsupported, netlinkProtocol,
	}
}
