package process

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/vitals-health/vitals/collectors"
)

// Sockets configures the expected sockets of processes. The zero value reads no sockets.
type Sockets struct {
	// Connections are remote TCP ports. The sockets connected to them are counted by state.
	Connections []int `yaml:"connections,omitempty"`
	// Listen are local TCP ports on which one of the processes is expected to listen.
	Listen []int `yaml:"listen,omitempty"`
	// UDP are local or remote UDP ports.
	UDP []int `yaml:"udp,omitempty"`
	// UnixSockets are the paths of Unix sockets as bound by the processes, or @ and the
	// name of an abstract one.
	UnixSockets []string `yaml:"unix_sockets,omitempty"`
}

// named reports whether any socket is configured.
func (s Sockets) named() bool {
	return len(s.Connections)+len(s.Listen)+len(s.UDP)+len(s.UnixSockets) > 0
}

// problems returns the mistakes. An empty list is one, because it would check nothing.
func (s Sockets) problems() []collectors.Problem {
	var problems []collectors.Problem
	for _, list := range []struct {
		key   string
		ports []int
	}{{"connections", s.Connections}, {"listen", s.Listen}, {"udp", s.UDP}} {
		if list.ports != nil && len(list.ports) == 0 {
			problems = append(problems, collectors.Problem{Path: list.key, Text: fmt.Sprintf("%s is empty: expected at least one port, or no such key", list.key)})
		}
		for i, port := range list.ports {
			path := fmt.Sprintf("%s[%d]", list.key, i)
			if port < 1 || port > 65535 {
				problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("port %d: expected 1 to 65535", port)})
			} else if slices.Index(list.ports, port) < i {
				problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("port %d: expected each port once", port)})
			}
		}
	}
	if s.UnixSockets != nil && len(s.UnixSockets) == 0 {
		problems = append(problems, collectors.Problem{Path: "unix_sockets", Text: "unix_sockets is empty: expected at least one path, or no such key"})
	}
	for i, path := range s.UnixSockets {
		at := fmt.Sprintf("unix_sockets[%d]", i)
		if text := unixSocketProblem(path); text != "" {
			problems = append(problems, collectors.Problem{Path: at, Text: fmt.Sprintf("path %q: %s", path, text)})
		} else if slices.Index(s.UnixSockets, path) < i {
			problems = append(problems, collectors.Problem{Path: at, Text: fmt.Sprintf("path %q: expected each path once", path)})
		}
	}
	return problems
}

// unixSocketProblem returns the mistake in the name of a Unix socket, or "".
func unixSocketProblem(path string) string {
	const most = 108 // bytes of sun_path, see unix(7)
	switch {
	case !filepath.IsAbs(path) && (len(path) < 2 || path[0] != '@'):
		return "expected an absolute path, or @ and the name of an abstract socket"
	case len(path) > most:
		return fmt.Sprintf("expected at most %d bytes", most)
	case strings.ContainsFunc(path, unicode.IsControl):
		return "expected no control characters"
	}
	return ""
}
