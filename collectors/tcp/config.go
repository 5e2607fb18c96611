package tcp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// Config configures the kind tcp: whether a server accepts connections, does TLS, and
// answers as its protocol or a dialogue expects.
type Config struct {
	// Address is host:port, unix:/path (with a pattern that has exactly one match) or
	// unix:@name for an abstract socket.
	Address string `yaml:"address"`
	// Several has several addresses in place of Address.
	discovery.Several `yaml:",inline"`
	// IPFamily is any, 4 or 6.
	IPFamily string `yaml:"ip_family"`
	// TLS starts with the connection, except in a dialogue with starttls and in a protocol
	// that starts it later.
	TLS *remote.ClientTLS `yaml:"tls,omitempty"`
	// Protocol is one of protocols; empty for a dialogue or for a connection alone.
	Protocol string `yaml:"protocol,omitempty"`
	// QueryResponse is a dialogue of up to 32 steps.
	QueryResponse []Step `yaml:"query_response,omitempty"`

	Username string            `yaml:"username,omitempty"`
	Password collectors.Secret `yaml:"password,omitempty"`
	// PasswordFile is read in every collection, without the white space around its content.
	PasswordFile string `yaml:"password_file,omitempty"`
	// Database must exist on the server; with AMQP, it is the virtual host.
	Database string `yaml:"database,omitempty"`
	// Galera measures the state of a node of a Galera cluster, as clustercheck does.
	Galera bool `yaml:"galera,omitempty"`
	// Queries measure more.
	Queries query.Queries `yaml:"queries,omitempty"`
}

// Step is one step of a dialogue: the fields apply in their order.
type Step struct {
	// Expect is a regular expression that must match in what the server has sent since the
	// previous match; ^ and $ match at lines.
	Expect string `yaml:"expect,omitempty"`
	// Send is sent as it is, without a line's end.
	Send string `yaml:"send,omitempty"`
	// StartTLS makes the handshake.
	StartTLS bool `yaml:"starttls,omitempty"`
}

// maxSteps bounds a dialogue.
const maxSteps = 32

// SetDefaults sets the defaults of the block before it is decoded.
func (c *Config) SetDefaults() { c.IPFamily = remote.AnyFamily }

// TargetNames implements collectors.Several.
func (c *Config) TargetNames(collector string) ([]collectors.TargetName, bool) {
	return c.targets().Names(collector)
}

// targets returns the targets, nil if there is only one.
func (c *Config) targets() *discovery.Targets {
	return c.Of(discovery.Plan{Key: "address", Set: c.Address != "", Label: "dependency", Example: "target.example:1", One: func(address string) collectors.Kind {
		one := *c
		one.Several, one.Address = discovery.Several{}, address
		return &one
	}})
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	if t := c.targets(); t != nil {
		return t.Problems()
	}
	address, problems := remote.AddressProblems(c.Address, c.IPFamily)
	problems = append(problems, c.tlsProblems(address)...)
	problems = append(problems, c.stepProblems()...)
	return append(problems, c.protocolProblems()...)
}

func (c *Config) tlsProblems(address remote.Address) []collectors.Problem {
	problems := c.TLS.Problems("tls")
	if c.TLS != nil || c.startsTLS() {
		problems = append(problems, c.TLS.NameProblems("tls", address)...)
	}
	return problems
}

func (c *Config) startsTLS() bool {
	return slices.ContainsFunc(c.QueryResponse, func(s Step) bool { return s.StartTLS })
}

func (c *Config) stepProblems() []collectors.Problem {
	var problems []collectors.Problem
	if len(c.QueryResponse) > maxSteps {
		problems = append(problems, collectors.Problem{Path: "query_response", Text: fmt.Sprintf("%d steps: expected at most %d", len(c.QueryResponse), maxSteps)})
	}
	secured := false
	for i, s := range c.QueryResponse {
		path := fmt.Sprintf("query_response[%d]", i)
		if s == (Step{}) {
			problems = append(problems, collectors.Problem{Path: path, Text: "empty step: expected expect, send or starttls"})
		}
		if _, err := compileExpect(s.Expect); err != nil && s.Expect != "" {
			problems = append(problems, collectors.Problem{Path: path + ".expect", Text: err.Error()})
		}
		if s.StartTLS && secured {
			problems = append(problems, collectors.Problem{Path: path + ".starttls", Text: "starttls twice: expected one"})
		}
		secured = secured || s.StartTLS
	}
	return problems
}

// expectFlags stand before an expression: ^ and $ match at lines.
const expectFlags = "(?m)"

// compileExpect rejects an expression that matches before the server has sent anything.
func compileExpect(expr string) (*regexp.Regexp, error) {
	compiled, err := regexp.Compile(expectFlags + expr)
	if err != nil {
		return nil, fmt.Errorf("expect %q: expected a regular expression: %v", expr, err)
	}
	if compiled.MatchString("") {
		return nil, fmt.Errorf("expect %q: expected an expression that an empty answer does not match", expr)
	}
	return compiled, nil
}

func (c *Config) protocolProblems() []collectors.Problem {
	var problems []collectors.Problem
	protocol, ok := protocolOf(c.Protocol)
	if c.Protocol != "" && !ok {
		problems = append(problems, collectors.Problem{Path: "protocol", Text: fmt.Sprintf("protocol %q: expected one of %s", c.Protocol, strings.Join(protocolNames(), ", "))})
	}
	if c.Protocol != "" && len(c.QueryResponse) > 0 {
		problems = append(problems, collectors.Problem{Path: "query_response", Text: "query_response beside protocol: expected one of them"})
	}
	for _, option := range []struct {
		key       string
		set, used bool
	}{
		{"username", c.Username != "", protocol.login},
		{"password", c.Password != "", protocol.login},
		{"password_file", c.PasswordFile != "", protocol.login},
		{"database", c.Database != "", protocol.database},
		{"galera", c.Galera, protocol.galera},
		{"queries", len(c.Queries) > 0, protocol.queries},
	} {
		if option.set && !option.used {
			problems = append(problems, collectors.Problem{Path: option.key, Text: fmt.Sprintf("%s: expected a protocol that uses it", option.key)})
		}
	}
	if c.Password != "" && c.PasswordFile != "" {
		problems = append(problems, collectors.Problem{Path: "password_file", Text: "password_file beside password: expected one of them"})
	}
	if c.PasswordFile != "" {
		problems = append(problems, remote.PathProblem("password_file", c.PasswordFile)...)
	}
	return append(problems, c.Queries.Problems("queries")...)
}

// External implements Kind. A server on loopback or behind a Unix socket is on this host.
func (c *Config) External() bool {
	if t := c.targets(); t != nil {
		return t.External()
	}
	address, err := remote.ParseAddress(c.Address)
	return err != nil || !address.Local()
}

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements Targeted.
func (c *Config) ConfigurableTarget() {}

var sentText = regexp.MustCompile(`^query_response\[\d+\]\.send$`)

// SecretValue implements SecretFinder: what a dialogue sends may contain a secret in any form.
func (c *Config) SecretValue(path string) (secret, decided bool) {
	sent := sentText.MatchString(path)
	return sent, sent
}

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	if t := c.targets(); t != nil {
		return t.New(env)
	}
	address, err := remote.ParseAddress(c.Address)
	if err != nil {
		return nil, err
	}
	t := &collector{name: env.Name, config: *c, address: address, hide: env.Hide}
	t.protocol, _ = protocolOf(c.Protocol)
	for _, s := range c.QueryResponse {
		step := step{send: s.Send, startTLS: s.StartTLS}
		if s.Expect != "" {
			if step.expect, err = compileExpect(s.Expect); err != nil {
				return nil, err
			}
		}
		t.steps = append(t.steps, step)
	}
	return t, nil
}
