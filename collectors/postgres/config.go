package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// The values of sslmode, with the meaning that libpq gives them. Its page is
// https://www.postgresql.org/docs/current/libpq-ssl.html.
const (
	sslDisable    = "disable"
	sslAllow      = "allow"
	sslPrefer     = "prefer"
	sslRequire    = "require"
	sslVerifyCA   = "verify-ca"
	sslVerifyFull = "verify-full"
)

func sslModes() []string {
	return []string{sslDisable, sslAllow, sslPrefer, sslRequire, sslVerifyCA, sslVerifyFull}
}

// The values of target_session_attrs.
const (
	anySession = "any"
	readWrite  = "read-write"
)

// Config configures the kind postgres: whether a PostgreSQL server accepts a login and answers
// a query, its state, and what queries measure.
type Config struct {
	// Address is host:port, unix:/path (with a pattern that has exactly one match) or
	// unix:@name for an abstract socket.
	Address string `yaml:"address"`
	// IPFamily is any, 4 or 6.
	IPFamily string `yaml:"ip_family"`
	// Username is by default that of this process.
	Username string `yaml:"username,omitempty"`
	// PasswordFile is read in every collection, without the white space around its content.
	PasswordFile string `yaml:"password_file,omitempty"`
	// Database is by default the one with the name of the user.
	Database string `yaml:"database,omitempty"`
	// SSLMode is one of sslModes.
	SSLMode string `yaml:"sslmode"`
	// TLS has the files. SSLMode decides what is verified.
	TLS *TLS `yaml:"tls,omitempty"`
	// TargetSessionAttrs is any, or read-write for a server that has to accept changes.
	TargetSessionAttrs string `yaml:"target_session_attrs"`
	// Queries measure more.
	Queries query.Queries `yaml:"queries,omitempty"`
}

// TLS has the files of TLS, and the name of the server.
type TLS struct {
	// CAFile has the trusted certificates in PEM. Without it, those of the system are used.
	CAFile string `yaml:"ca_file,omitempty"`
	// CertFile and KeyFile have the client's certificate and key in PEM.
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
	// ServerName is the name in the server's certificate, if it is not the host's name.
	ServerName string `yaml:"server_name,omitempty"`
}

// client returns the settings as those of other clients, nil for nil.
func (t *TLS) client() *remote.ClientTLS {
	if t == nil {
		return nil
	}
	return &remote.ClientTLS{CAFile: t.CAFile, CertFile: t.CertFile, KeyFile: t.KeyFile, ServerName: t.ServerName}
}

// SetDefaults sets the defaults of the block before it is decoded.
func (c *Config) SetDefaults() {
	c.IPFamily, c.SSLMode, c.TargetSessionAttrs = remote.AnyFamily, sslPrefer, anySession
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	address, problems := remote.AddressProblems(c.Address, c.IPFamily)
	problems = append(problems, c.tlsProblems(address)...)
	if c.PasswordFile != "" {
		problems = append(problems, remote.PathProblem("password_file", c.PasswordFile)...)
	}
	if !slices.Contains([]string{anySession, readWrite}, c.TargetSessionAttrs) {
		problems = append(problems, collectors.Problem{Path: "target_session_attrs", Text: fmt.Sprintf("target_session_attrs %q: expected %s or %s", c.TargetSessionAttrs, anySession, readWrite)})
	}
	for _, name := range []struct{ key, value string }{{"username", c.Username}, {"database", c.Database}} {
		if strings.ContainsRune(name.value, 0) {
			problems = append(problems, collectors.Problem{Path: name.key, Text: name.key + " with a zero byte: expected a name"})
		}
	}
	return append(problems, c.Queries.Problems("queries")...)
}

func (c *Config) tlsProblems(address remote.Address) []collectors.Problem {
	problems := c.TLS.client().Problems("tls")
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case !slices.Contains(sslModes(), c.SSLMode):
		add("sslmode", "sslmode %q: expected one of %s", c.SSLMode, strings.Join(sslModes(), ", "))
	case c.requiresTLS() && address.Socket != "":
		add("sslmode", "sslmode %s: expected %s or a host, because PostgreSQL has no TLS on a Unix socket", c.SSLMode, sslDisable)
	case c.TLS != nil && (c.SSLMode == sslDisable || address.Socket != ""):
		add("tls", "tls without TLS: expected another sslmode, and a host")
	}
	return problems
}

// requiresTLS reports whether a connection without TLS is a failure.
func (c *Config) requiresTLS() bool {
	return slices.Contains([]string{sslRequire, sslVerifyCA, sslVerifyFull}, c.SSLMode)
}

// External implements Kind. A server on loopback or behind a Unix socket is on this host.
func (c *Config) External() bool {
	address, err := remote.ParseAddress(c.Address)
	return err != nil || !address.Local()
}

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements Targeted.
func (c *Config) ConfigurableTarget() {}

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	address, err := remote.ParseAddress(c.Address)
	if err != nil {
		return nil, err
	}
	return &collector{name: env.Name, config: *c, address: address, hide: env.Hide}, nil
}
