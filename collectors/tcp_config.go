package collectors

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/redact"
)

// tcpAnyFamily is the value of ip_family that leaves the choice to the resolver.
const tcpAnyFamily = "any"

// TCPConfig configures the kind tcp: whether a server accepts connections, does TLS, and
// answers as its protocol or a dialogue expects.
type TCPConfig struct {
	// Address is host:port, unix:/path (with a pattern that has exactly one match) or
	// unix:@name for an abstract socket.
	Address string `yaml:"address"`
	// IPFamily is any, 4 or 6.
	IPFamily string `yaml:"ip_family"`
	// TLS is spoken from the first byte where it is set, except by a dialogue with
	// starttls and by a protocol that starts it itself.
	TLS *ClientTLS `yaml:"tls,omitempty"`
	// Protocol is one of tcpProtocols; empty for a dialogue or for a connection alone.
	Protocol string `yaml:"protocol,omitempty"`
	// QueryResponse is a dialogue of up to 32 steps.
	QueryResponse []TCPStep `yaml:"query_response,omitempty"`

	Username string `yaml:"username,omitempty"`
	Password Secret `yaml:"password,omitempty"`
	// PasswordFile is read at every round, without the white space around its content.
	PasswordFile string `yaml:"password_file,omitempty"`
	// Database has to be among those of the server; of AMQP, it is the virtual host.
	Database string `yaml:"database,omitempty"`
	// Galera measures the state of a node of a Galera cluster, as clustercheck looks at it.
	Galera bool `yaml:"galera,omitempty"`
}

// TCPStep is one step of a dialogue: what it sets is done in the order of the fields.
type TCPStep struct {
	// Expect is a regular expression that has to match somewhere in what the server has
	// sent since the match before; ^ and $ match at lines.
	Expect string `yaml:"expect,omitempty"`
	// Send is sent as it is, without a line's end.
	Send string `yaml:"send,omitempty"`
	// StartTLS makes the handshake.
	StartTLS bool `yaml:"starttls,omitempty"`
}

// maxTCPSteps bounds a dialogue.
const maxTCPSteps = 32

// SetDefaults sets what the block has before it is decoded.
func (c *TCPConfig) SetDefaults() { c.IPFamily = tcpAnyFamily }

// Problems implements Kind.
func (c *TCPConfig) Problems() []Problem {
	var problems []Problem
	address, err := parseTCPAddress(c.Address)
	switch {
	case err != nil:
		problems = append(problems, Problem{"address", err.Error()})
	case !slices.Contains([]string{tcpAnyFamily, "4", "6"}, c.IPFamily):
		problems = append(problems, Problem{"ip_family", fmt.Sprintf("ip_family %q: expected any, 4 or 6", c.IPFamily)})
	case !address.ofFamily(c.IPFamily):
		problems = append(problems, Problem{"ip_family", fmt.Sprintf("ip_family %s: expected an address of that family, not %s", c.IPFamily, address.host)})
	}
	problems = append(problems, c.tlsProblems(address)...)
	problems = append(problems, c.stepProblems()...)
	return append(problems, c.protocolProblems()...)
}

func (c *TCPConfig) tlsProblems(address tcpAddress) []Problem {
	problems := c.TLS.problems("tls")
	secured := c.TLS != nil || c.startsTLS()
	if secured && address.socket != "" && (c.TLS == nil || c.TLS.ServerName == "" && !c.TLS.InsecureSkipVerify) {
		problems = append(problems, Problem{"tls.server_name", "no server_name: expected the name in the certificate, as a Unix socket has none"})
	}
	return problems
}

func (c *TCPConfig) startsTLS() bool {
	return slices.ContainsFunc(c.QueryResponse, func(s TCPStep) bool { return s.StartTLS })
}

func (c *TCPConfig) stepProblems() []Problem {
	var problems []Problem
	if len(c.QueryResponse) > maxTCPSteps {
		problems = append(problems, Problem{"query_response", fmt.Sprintf("%d steps: expected at most %d", len(c.QueryResponse), maxTCPSteps)})
	}
	secured := false
	for i, s := range c.QueryResponse {
		path := fmt.Sprintf("query_response[%d]", i)
		if s == (TCPStep{}) {
			problems = append(problems, Problem{path, "empty step: expected expect, send or starttls"})
		}
		if _, err := compileExpect(s.Expect); err != nil && s.Expect != "" {
			problems = append(problems, Problem{path + ".expect", err.Error()})
		}
		if s.StartTLS && secured {
			problems = append(problems, Problem{path + ".starttls", "starttls twice: expected one"})
		}
		secured = secured || s.StartTLS
	}
	return problems
}

// expectFlags stand before an expression: ^ and $ match at lines.
const expectFlags = "(?m)"

// compileExpect refuses an expression that holds before the server has said anything.
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

func (c *TCPConfig) protocolProblems() []Problem {
	var problems []Problem
	protocol, known := tcpProtocolOf(c.Protocol)
	if c.Protocol != "" && !known {
		problems = append(problems, Problem{"protocol", fmt.Sprintf("protocol %q: expected one of %s", c.Protocol, strings.Join(tcpProtocolNames(), ", "))})
	}
	if c.Protocol != "" && len(c.QueryResponse) > 0 {
		problems = append(problems, Problem{"query_response", "query_response beside protocol: expected one of them"})
	}
	for _, given := range []struct {
		key        string
		set, taken bool
	}{
		{"username", c.Username != "", protocol.login},
		{"password", c.Password != "", protocol.login},
		{"password_file", c.PasswordFile != "", protocol.login},
		{"database", c.Database != "", protocol.database},
		{"galera", c.Galera, protocol.galera},
	} {
		if given.set && !given.taken {
			problems = append(problems, Problem{given.key, fmt.Sprintf("%s: expected a protocol that takes it", given.key)})
		}
	}
	if c.Password != "" && c.PasswordFile != "" {
		problems = append(problems, Problem{"password_file", "password_file beside password: expected one of them"})
	}
	if c.PasswordFile != "" {
		problems = append(problems, pathProblem("password_file", c.PasswordFile)...)
	}
	return problems
}

// External implements Kind. A server on loopback or behind a Unix socket is on this host.
func (c *TCPConfig) External() bool {
	address, err := parseTCPAddress(c.Address)
	return err != nil || !address.local()
}

// Uses implements Kind.
func (c *TCPConfig) Uses() []string { return nil }

// ConfigurableTarget implements Targeted.
func (c *TCPConfig) ConfigurableTarget() {}

var sentByTCP = regexp.MustCompile(`^query_response\[\d+\]\.send$`)

// SecretValue implements SecretFinder: what a dialogue sends may hold a secret in any form.
func (c *TCPConfig) SecretValue(path string) (secret, decided bool) {
	sent := sentByTCP.MatchString(path)
	return sent, sent
}

// New implements Kind.
func (c *TCPConfig) New(env Env) (Collector, error) {
	address, err := parseTCPAddress(c.Address)
	if err != nil {
		return nil, err
	}
	t := &tcp{name: env.Name, config: *c, address: address}
	t.protocol, _ = tcpProtocolOf(c.Protocol)
	for _, s := range c.QueryResponse {
		step := tcpStep{send: s.Send, startTLS: s.StartTLS}
		if s.Expect != "" {
			if step.expect, err = compileExpect(s.Expect); err != nil {
				return nil, err
			}
		}
		t.steps = append(t.steps, step)
	}
	return t, nil
}

// shownText is a text of the configuration as people may see it.
func shownText(text string) string { return redact.Config([]string{text})[0] }
