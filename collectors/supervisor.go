package collectors

import (
	"errors"
	"fmt"
	"net/url"
)

const (
	// defaultSupervisorSocket is where SONiC's and Debian's supervisord listens.
	defaultSupervisorSocket = "/var/run/supervisor.sock"
	// maxCriticalFile bounds a file of critical programs in bytes.
	maxCriticalFile = 64 << 10
)

// SupervisorConfig configures the kind supervisor: the states of the programs that a
// supervisord runs, asked by XML-RPC.
type SupervisorConfig struct {
	// Socket is the path of supervisord's Unix socket; /var/run/supervisor.sock where
	// neither it nor URL is set.
	Socket string `yaml:"socket,omitempty"`
	// URL is where supervisord listens on TCP instead, as in http://127.0.0.1:9001.
	URL string `yaml:"url,omitempty"`
	// Username and one of Password and PasswordFile, which is read at every round, are
	// those of supervisord's section unix_http_server or inet_http_server.
	Username     string `yaml:"username,omitempty"`
	Password     Secret `yaml:"password,omitempty"`
	PasswordFile string `yaml:"password_file,omitempty"`
	// Programs are those to look at: NAME, GROUP:NAME or GROUP:*. Empty means all.
	Programs []string `yaml:"programs,omitempty"`
	// Critical are programs without which the workload is of no use: program:NAME or
	// group:NAME. CriticalFile has more of them, one a line, as in SONiC's
	// /etc/supervisor/critical_processes. They are looked at, whatever Programs says.
	Critical     []string `yaml:"critical,omitempty"`
	CriticalFile string   `yaml:"critical_file,omitempty"`
	// Limit is the largest number of programs looked at; 200 by default.
	Limit int `yaml:"limit"`
}

// SetDefaults sets what the block has before it is decoded.
func (c *SupervisorConfig) SetDefaults() { c.Limit = 200 }

// Problems implements Kind.
func (c *SupervisorConfig) Problems() []Problem {
	problems := c.targetProblems()
	switch {
	case c.Password != "" && c.PasswordFile != "":
		problems = append(problems, Problem{"password", "password beside password_file: expected one of them"})
	case c.Username == "" && (c.Password != "" || c.PasswordFile != ""):
		problems = append(problems, Problem{"username", "no user name for the password: expected username, too"})
	case c.Username != "" && c.Password == "" && c.PasswordFile == "":
		problems = append(problems, Problem{"username", "no password for the user name: expected password or password_file, too"})
	}
	for _, f := range []struct{ key, path string }{{"password_file", c.PasswordFile}, {"critical_file", c.CriticalFile}} {
		if f.path != "" {
			problems = append(problems, pathProblem(f.key, f.path)...)
		}
	}
	for i, text := range c.Programs {
		if _, err := parseSupervisorName(text); err != nil {
			problems = append(problems, Problem{fmt.Sprintf("programs[%d]", i), err.Error()})
		}
	}
	for i, text := range c.Critical {
		if _, err := parseCritical(text); err != nil {
			problems = append(problems, Problem{fmt.Sprintf("critical[%d]", i), err.Error()})
		}
	}
	if c.Limit <= 0 {
		problems = append(problems, Problem{"limit", fmt.Sprintf("limit %d: expected more than 0", c.Limit)})
	}
	return problems
}

func (c *SupervisorConfig) targetProblems() []Problem {
	if c.URL == "" {
		problems := pathProblem("socket", c.socket())
		if len(c.Socket) > maxSocketPath {
			problems = append(problems, Problem{"socket", fmt.Sprintf("socket path has %d bytes: expected at most %d", len(c.Socket), maxSocketPath)})
		}
		return problems
	}
	if c.Socket != "" {
		return []Problem{{"socket", "socket beside url: expected one of them"}}
	}
	u, err := url.Parse(c.URL)
	switch {
	case err == nil && u.User != nil:
		return []Problem{{"url", "a user in the URL: expected username and password instead"}}
	case err != nil || u.Scheme != "http" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return []Problem{{"url", "expected an address such as http://127.0.0.1:9001, without a path"}}
	case noPort(u):
		return []Problem{{"url", fmt.Sprintf("port %s in the URL: expected 1 to 65535", u.Port())}}
	}
	return nil
}

// socket is the path of the socket to connect to; empty with a URL.
func (c *SupervisorConfig) socket() string {
	if c.URL == "" && c.Socket == "" {
		return defaultSupervisorSocket
	}
	return c.Socket
}

// External implements Kind: a socket and a loopback address are on this host.
func (c *SupervisorConfig) External() bool {
	u, err := url.Parse(c.URL)
	return c.URL != "" && (err != nil || !localHost(u.Hostname()))
}

// Uses implements Kind.
func (c *SupervisorConfig) Uses() []string { return nil }

// New implements Kind. It reads the file of critical programs: a mistake in it is one
// of the configuration.
func (c *SupervisorConfig) New(env Env) (Collector, error) {
	s := &supervisor{name: env.Name, limit: c.Limit, client: newSupervisorClient(c)}
	for _, text := range c.Programs {
		name, err := parseSupervisorName(text)
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
	data, err := ReadFile(c.CriticalFile, maxCriticalFile)
	return s, s.critical.update(data, true, err)
}

// supervisorReason says why the programs are not known. The set is closed, because it
// is a label.
type supervisorReason string

const (
	supervisorMissing      supervisorReason = "missing"       // there is no such socket
	supervisorRefused      supervisorReason = "refused"       // nobody listens, or the host cannot be reached
	supervisorForbidden    supervisorReason = "forbidden"     // the socket's mode, or status 403
	supervisorAuth         supervisorReason = "auth"          // status 401, or no password at hand
	supervisorTimeout      supervisorReason = "timeout"       // no whole answer in time
	supervisorShuttingDown supervisorReason = "shutting_down" // supervisord ends or restarts, and tells nothing any more
	supervisorProtocol     supervisorReason = "protocol"      // the answer is none of supervisord's
	supervisorTooMany      supervisorReason = "too_many"      // there are more programs than the limit
	supervisorCritical     supervisorReason = "critical_file" // the file of critical programs cannot be read any more
)

// supervisorReasons returns all reasons, in the order of the documentation.
func supervisorReasons() []supervisorReason {
	return []supervisorReason{
		supervisorMissing, supervisorRefused, supervisorForbidden, supervisorAuth, supervisorTimeout,
		supervisorShuttingDown, supervisorProtocol, supervisorTooMany, supervisorCritical,
	}
}

// supervisorError is an error with its reason.
type supervisorError = reasonError[supervisorReason]

// reasonOfSupervisor is the reason of an error; nil has none.
func reasonOfSupervisor(err error) supervisorReason {
	if err == nil {
		return ""
	}
	if known, ok := errors.AsType[*supervisorError](err); ok {
		return known.reason
	}
	return reasonOfSupervisorTransport(err)
}
