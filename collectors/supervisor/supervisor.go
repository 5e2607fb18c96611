// Package supervisor reads the states of the programs that a supervisord runs.
package supervisor

import (
	"fmt"
	"net/url"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// defaultSocket is the socket of supervisord in SONiC and Debian.
	defaultSocket = "/var/run/supervisor.sock"
	// maxCriticalFile limits a file of critical programs in bytes.
	maxCriticalFile = 64 << 10
)

// Config configures the kind supervisor: the states of the programs that a
// supervisord runs, read over XML-RPC.
type Config struct {
	// Socket is the path of the Unix socket of supervisord. Without it and URL it is
	// /var/run/supervisor.sock.
	Socket string `yaml:"socket,omitempty"`
	// URL is the TCP address of supervisord instead, such as http://127.0.0.1:9001.
	URL string `yaml:"url,omitempty"`
	// Username and Password or PasswordFile are those of the section unix_http_server or
	// inet_http_server of supervisord. Each collection reads the file.
	Username     string            `yaml:"username,omitempty"`
	Password     collectors.Secret `yaml:"password,omitempty"`
	PasswordFile string            `yaml:"password_file,omitempty"`
	// Programs selects programs: NAME, GROUP:NAME or GROUP:*. Empty is all.
	Programs []string `yaml:"programs,omitempty"`
	// Critical are the programs that the workload needs: program:NAME or group:NAME.
	// CriticalFile has more of them, one in each line, as /etc/supervisor/critical_processes
	// of SONiC. They are always selected.
	Critical     []string `yaml:"critical,omitempty"`
	CriticalFile string   `yaml:"critical_file,omitempty"`
	// Limit is the largest number of selected programs; 200 by default.
	Limit int `yaml:"limit"`
}

// SetDefaults sets the defaults of a block before it is decoded.
func (c *Config) SetDefaults() { c.Limit = 200 }

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	problems := c.targetProblems()
	switch {
	case c.Password != "" && c.PasswordFile != "":
		problems = append(problems, collectors.Problem{Path: "password", Text: "password and password_file: expected one of them"})
	case c.Username == "" && (c.Password != "" || c.PasswordFile != ""):
		problems = append(problems, collectors.Problem{Path: "username", Text: "no user name for the password: expected username, too"})
	case c.Username != "" && c.Password == "" && c.PasswordFile == "":
		problems = append(problems, collectors.Problem{Path: "username", Text: "no password for the user name: expected password or password_file, too"})
	}
	for _, f := range []struct{ key, path string }{{"password_file", c.PasswordFile}, {"critical_file", c.CriticalFile}} {
		if f.path != "" {
			problems = append(problems, remote.PathProblem(f.key, f.path)...)
		}
	}
	for i, text := range c.Programs {
		if _, err := parseName(text); err != nil {
			problems = append(problems, collectors.Problem{Path: fmt.Sprintf("programs[%d]", i), Text: err.Error()})
		}
	}
	for i, text := range c.Critical {
		if _, err := parseCritical(text); err != nil {
			problems = append(problems, collectors.Problem{Path: fmt.Sprintf("critical[%d]", i), Text: err.Error()})
		}
	}
	if c.Limit <= 0 {
		problems = append(problems, collectors.Problem{Path: "limit", Text: fmt.Sprintf("limit %d: expected more than 0", c.Limit)})
	}
	return problems
}

func (c *Config) targetProblems() []collectors.Problem {
	if c.URL == "" {
		problems := remote.PathProblem("socket", c.socket())
		if len(c.Socket) > remote.MaxSocketPath {
			problems = append(problems, collectors.Problem{Path: "socket", Text: fmt.Sprintf("socket path has %d bytes: expected at most %d", len(c.Socket), remote.MaxSocketPath)})
		}
		return problems
	}
	if c.Socket != "" {
		return []collectors.Problem{{Path: "socket", Text: "socket and url: expected one of them"}}
	}
	u, err := url.Parse(c.URL)
	switch {
	case err == nil && u.User != nil:
		return []collectors.Problem{{Path: "url", Text: "a user in the URL: expected username and password instead"}}
	case err != nil || u.Scheme != "http" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return []collectors.Problem{{Path: "url", Text: "expected an address such as http://127.0.0.1:9001, without a path"}}
	case remote.InvalidPort(u):
		return []collectors.Problem{{Path: "url", Text: fmt.Sprintf("port %s in the URL: expected 1 to 65535", u.Port())}}
	}
	return nil
}

// socket returns the path of the socket; empty with a URL.
func (c *Config) socket() string {
	if c.URL == "" && c.Socket == "" {
		return defaultSocket
	}
	return c.Socket
}

// External implements Kind: a socket and a loopback address are on this host.
func (c *Config) External() bool {
	u, err := url.Parse(c.URL)
	return c.URL != "" && (err != nil || !remote.LocalHost(u.Hostname()))
}

// ConfigurableTarget implements collectors.Targeted.
func (c *Config) ConfigurableTarget() {}

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind. It reads the file of critical programs: a mistake in it is one
// of the configuration.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	s := &collector{name: env.Name, limit: c.Limit, client: newClient(c, env)}
	for _, text := range c.Programs {
		name, err := parseName(text)
		if err != nil {
			return nil, err
		}
		s.programs = append(s.programs, name)
	}
	for _, text := range c.Critical {
		name, err := parseCritical(text)
		if err != nil {
			return nil, err
		}
		s.critical.fixed = append(s.critical.fixed, name)
	}
	if c.CriticalFile == "" {
		return s, nil
	}
	s.critical.watch(c.CriticalFile)
	data, err := file.Read(c.CriticalFile, maxCriticalFile)
	return s, s.critical.update(data, true, err)
}

// reason is the reason of a failure. The set is closed, because it is a label.
type reason string

const (
	missing      reason = "missing"       // there is no such socket
	refused      reason = "refused"       // no listener, or an unreachable host
	forbidden    reason = "forbidden"     // the socket's mode, or status 403
	auth         reason = "auth"          // status 401, or no readable password
	timeout      reason = "timeout"       // no whole answer in time
	shuttingDown reason = "shutting_down" // supervisord ends or restarts and rejects requests
	protocol     reason = "protocol"      // an invalid answer
	tooMany      reason = "too_many"      // there are more programs than the limit
	critical     reason = "critical_file" // the file of critical programs is invalid
)

// reasons returns all reasons, in the order of the documentation.
func reasons() []reason {
	return []reason{
		missing, refused, forbidden, auth, timeout,
		shuttingDown, protocol, tooMany, critical,
	}
}

// reasonOf returns the reason of an error, and "" for nil.
func reasonOf(err error) reason {
	return collectors.ReasonOf(err, classify)
}
