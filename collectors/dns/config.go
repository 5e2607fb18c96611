package dns

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

// The values of the key protocol.
const (
	protocolUDP = "udp"
	protocolTCP = "tcp"
)

// maxAnswers bounds the key answers, because each is a series.
const maxAnswers = 64

// Config configures the kind dns: one query to one server.
type Config struct {
	// Name is the full domain name to query. For PTR, it may be an IP address.
	Name string `yaml:"name"`
	// Server is the address of a DNS server, by default with port 53. Without it, the first
	// name server of /etc/resolv.conf is queried.
	Server string `yaml:"server,omitempty"`
	// Several has several servers in place of Server.
	discovery.Several `yaml:",inline"`
	// Type is one of the record types.
	Type string `yaml:"type"`
	// Protocol is udp or tcp.
	Protocol string `yaml:"protocol"`
	// Recursion requests that the server queries others.
	Recursion bool `yaml:"recursion"`
	// Answers are the data of expected records, as dig +short prints them.
	Answers []string `yaml:"answers,omitempty"`
	// Match is a regular expression for the data of records.
	Match string `yaml:"match,omitempty"`
}

// recordTypes are the values of the key type, by the name in the configuration.
func recordTypes() map[string]dnsmessage.Type {
	return map[string]dnsmessage.Type{
		"A": dnsmessage.TypeA, "AAAA": dnsmessage.TypeAAAA, "CNAME": dnsmessage.TypeCNAME,
		"MX": dnsmessage.TypeMX, "NS": dnsmessage.TypeNS, "PTR": dnsmessage.TypePTR,
		"SOA": dnsmessage.TypeSOA, "SRV": dnsmessage.TypeSRV, "TXT": dnsmessage.TypeTXT,
	}
}

// SetDefaults sets the defaults of the block before it is decoded.
func (c *Config) SetDefaults() { c.Type, c.Protocol, c.Recursion = "A", protocolUDP, true }

// TargetNames implements collectors.Several.
func (c *Config) TargetNames(collector string) ([]collectors.TargetName, bool) {
	return c.targets().Names(collector)
}

// targets returns the targets, nil if there is only one.
func (c *Config) targets() *discovery.Targets {
	return c.Of(discovery.Plan{Key: "server", Set: c.Server != "", Label: "dependency", Example: "192.0.2.1", One: func(address string) collectors.Kind {
		one := *c
		one.Several, one.Server = discovery.Several{}, address
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
	record, known := recordTypes()[c.Type]
	if !known {
		add("type", "type %q: expected A, AAAA, CNAME, MX, NS, PTR, SOA, SRV or TXT", c.Type)
	}
	if _, err := c.question(); err != nil && known {
		add("name", "name %q: %v", c.Name, err)
	}
	if _, err := parseServer(c.Server); err != nil && c.Server != "" {
		add("server", "server %q: %v", c.Server, err)
	}
	if c.Protocol != protocolUDP && c.Protocol != protocolTCP {
		add("protocol", "protocol %q: expected udp or tcp", c.Protocol)
	}
	if _, err := regexp.Compile(c.Match); err != nil {
		add("match", "match %q: expected a regular expression: %v", c.Match, err)
	}
	if len(c.Answers) > maxAnswers {
		add("answers", "%d answers: expected at most %d", len(c.Answers), maxAnswers)
	}
	var seen []string
	for i, answer := range c.Answers {
		path := fmt.Sprintf("answers[%d]", i)
		want, err := canonical(record, answer)
		switch {
		case err != nil && known:
			add(path, "answer %q: %v", answer, err)
		case text.Short(answer, maxAnswerText) != answer:
			add(path, "answer %q: expected text of at most %d bytes on one line", text.Clip(answer, maxAnswerText), maxAnswerText)
		case slices.Contains(seen, want):
			add(path, "answer %q: expected each answer once", answer)
		}
		seen = append(seen, want)
	}
	return problems
}

// question returns the question of the query.
func (c *Config) question() (dnsmessage.Question, error) {
	record := recordTypes()[c.Type]
	name := c.Name
	if addr, err := netip.ParseAddr(name); err == nil {
		if record != dnsmessage.TypePTR {
			return dnsmessage.Question{}, fmt.Errorf("expected a domain name: an address is for type PTR")
		}
		name = reverseName(addr)
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return dnsmessage.Question{}, fmt.Errorf("expected a domain name in ASCII, such as keystone.example")
	}
	full, err := dnsmessage.NewName(strings.TrimSuffix(name, ".") + ".")
	if err != nil {
		return dnsmessage.Question{}, fmt.Errorf("expected at most 253 characters")
	}
	question := dnsmessage.Question{Name: full, Type: record, Class: dnsmessage.ClassINET}
	check := dnsmessage.Message{Questions: []dnsmessage.Question{question}}
	if _, err := check.Pack(); err != nil {
		return question, fmt.Errorf("expected a domain name of labels with 1 to 63 characters")
	}
	return question, nil
}

// reverseName returns the name below in-addr.arpa or ip6.arpa that has the PTR record of an
// address (RFC 1035 section 3.5 and RFC 3596 section 2.5).
func reverseName(addr netip.Addr) string {
	var b strings.Builder
	bytes := addr.Unmap().AsSlice()
	slices.Reverse(bytes)
	for _, octet := range bytes {
		if len(bytes) == net4 {
			fmt.Fprintf(&b, "%d.", octet)
		} else {
			fmt.Fprintf(&b, "%x.%x.", octet&0xf, octet>>4)
		}
	}
	if len(bytes) == net4 {
		return b.String() + "in-addr.arpa."
	}
	return b.String() + "ip6.arpa."
}

// net4 is the length of an IPv4 address in bytes.
const net4 = 4

// defaultPort is the port of DNS.
const defaultPort = 53

// parseServer reads an address with or without a port: 10.0.0.53, 10.0.0.53:5353,
// 2001:db8::53 or [2001:db8::53]:5353. A name is no address: its lookup would need a server.
func parseServer(server string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(server); err == nil {
		return netip.AddrPortFrom(addr, defaultPort), nil
	}
	at, err := netip.ParseAddrPort(server)
	if err != nil || at.Port() == 0 {
		return netip.AddrPort{}, fmt.Errorf("expected an IP address, with a port or without: 10.0.0.53, 10.0.0.53:5353, [2001:db8::53]:5353")
	}
	return at, nil
}

// External implements collectors.Kind. Only what a server on this host answers without others is
// of this host.
func (c *Config) External() bool {
	if t := c.targets(); t != nil {
		return t.External()
	}
	at, err := parseServer(c.Server)
	return err != nil || c.Recursion || !remote.LocalHost(at.Addr().String())
}

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements collectors.Targeted.
func (c *Config) ConfigurableTarget() {}

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	if t := c.targets(); t != nil {
		return t.New(env)
	}
	question, err := c.question()
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", c.Name, err)
	}
	d := &collector{name: env.Name, config: *c, question: question, resolvConf: "/etc/resolv.conf"}
	for _, answer := range c.Answers {
		want, err := canonical(question.Type, answer)
		if err != nil {
			return nil, fmt.Errorf("answer %q: %w", answer, err)
		}
		d.wanted = append(d.wanted, want)
	}
	if c.Match != "" {
		if d.match, err = regexp.Compile(c.Match); err != nil {
			return nil, fmt.Errorf("match %q: %w", c.Match, err)
		}
	}
	if c.Server != "" {
		if d.server, err = parseServer(c.Server); err != nil {
			return nil, fmt.Errorf("server %q: %w", c.Server, err)
		}
	}
	return d, nil
}
