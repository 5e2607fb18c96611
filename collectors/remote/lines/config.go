package lines

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// Server has the keys of a server and of a login. A kind embeds it.
type Server struct {
	// Address is host:port, unix:/path (with a pattern that has exactly one match) or
	// unix:@name for an abstract socket.
	Address string `yaml:"address"`
	// IPFamily is any, 4 or 6.
	IPFamily string `yaml:"ip_family"`
	// TLS starts with the connection.
	TLS *remote.ClientTLS `yaml:"tls,omitempty"`

	Username string            `yaml:"username,omitempty"`
	Password collectors.Secret `yaml:"password,omitempty"`
	// PasswordFile is read in every collection, without the white space around its content.
	PasswordFile string `yaml:"password_file,omitempty"`
}

// SetDefaults sets the defaults of the block before it is decoded.
func (s *Server) SetDefaults() { s.IPFamily = remote.AnyFamily }

// Problems implements collectors.Kind.
func (s *Server) Problems() []collectors.Problem {
	address, problems := remote.AddressProblems(s.Address, s.IPFamily)
	problems = append(problems, s.TLS.Problems("tls")...)
	if s.TLS != nil {
		problems = append(problems, s.TLS.NameProblems("tls", address)...)
	}
	switch {
	case s.Password != "" && s.PasswordFile != "":
		problems = append(problems, collectors.Problem{Path: "password_file", Text: "password_file beside password: expected one of them"})
	case s.PasswordFile != "":
		problems = append(problems, remote.PathProblem("password_file", s.PasswordFile)...)
	case s.Username != "" && s.Password == "":
		problems = append(problems, collectors.Problem{Path: "username", Text: "username without a password: expected password_file or password"})
	}
	return problems
}

// External implements collectors.Kind. A server on loopback or behind a Unix socket is on this
// host.
func (s *Server) External() bool {
	address, err := remote.ParseAddress(s.Address)
	return err != nil || !address.Local()
}

// Uses implements collectors.Kind.
func (s *Server) Uses() []string { return nil }

// ConfigurableTarget implements collectors.Targeted.
func (s *Server) ConfigurableTarget() {}

// HasLogin reports whether credentials are configured.
func (s *Server) HasLogin() bool { return s.Password != "" || s.PasswordFile != "" }
