package remote

import (
	"fmt"

	"github.com/vitals-health/vitals/collectors"
)

// SocketProblems returns the mistakes of the path of a Unix socket to connect to; an empty
// path is none.
func SocketProblems(path, socket string) []collectors.Problem {
	if socket == "" {
		return nil
	}
	problems := PathProblem(path, socket)
	if len(socket) > MaxSocketPath {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("socket path has %d bytes: expected at most %d", len(socket), MaxSocketPath)})
	}
	return problems
}

// AuthProblems returns the mistakes of the keys basic_auth, bearer_token_file and tls.
func AuthProblems(basic *BasicAuth, bearerTokenFile string, tls *ClientTLS) []collectors.Problem {
	problems := basic.Problems("basic_auth")
	if basic != nil && bearerTokenFile != "" {
		problems = append(problems, collectors.Problem{Path: "bearer_token_file", Text: "bearer_token_file beside basic_auth: expected one of them"})
	}
	if bearerTokenFile != "" {
		problems = append(problems, PathProblem("bearer_token_file", bearerTokenFile)...)
	}
	return append(problems, tls.Problems("tls")...)
}
