package execprobe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// MaxAnswer is the largest response of the daemon that is read, in bytes.
const MaxAnswer = 64 << 10

// NoSuchPath is the beginning of the daemon's 404 response for an unknown state. It
// distinguishes that response from the 404 of another program.
const NoSuchPath = "there is nothing at this path: "

// Query queries the daemon on a Unix socket for a state's verdict and returns by the
// deadline. A failure is a result as well.
func Query(socket, state string, deadline time.Time) Result {
	status, body, failed := Get(socket, "/api/v1/verdict/"+state, ContentType, MaxAnswer, deadline)
	if failed != nil {
		return *failed
	}
	return Read(status, body, state)
}

// Get sends a GET request for an escaped path to the daemon on a Unix socket and returns
// by the deadline. failed is not nil if the request fails, if the response has more than
// limit bytes, or if it is not HTTP.
//
// The request is HTTP/1.0, so that the response ends with the connection. A client of
// net/http would double the size of the program.
func Get(socket, path, accept string, limit int, deadline time.Time) (status int, body []byte, failed *Result) {
	conn, err := dial(socket, deadline)
	if err != nil {
		return 0, nil, new(Unreachable(socket, err))
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: vitals\r\nAccept: %s\r\n\r\n", path, accept); err != nil {
		return 0, nil, new(broken(socket, err))
	}
	answer, err := io.ReadAll(io.LimitReader(conn, int64(limit)+1))
	if err != nil {
		return 0, nil, new(broken(socket, err))
	}
	return split(answer, limit)
}

// split parses a response in HTTP/1.0, whose body ends with the connection.
func split(answer []byte, limit int) (status int, body []byte, failed *Result) {
	head, body, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
	var version string
	_, err := fmt.Sscanf(string(head), "%s %d", &version, &status)
	switch {
	case len(answer) > limit:
		return 0, nil, new(wrong("more than %d bytes", limit))
	case err != nil || !ok || !strings.HasPrefix(version, "HTTP/"):
		return 0, nil, new(wrong("no HTTP"))
	}
	return status, body, nil
}

// Unreachable returns the result for a socket that cannot be connected to.
func Unreachable(socket string, err error) Result {
	r := Result{Outcome: NoDaemon, Text: fmt.Sprintf("no process listens on %s", socket)}
	switch {
	case errors.Is(err, fs.ErrPermission):
		r = Result{Outcome: Forbidden, Text: fmt.Sprintf("%s may not be used: run as the daemon's user or in the socket's group, or start vitals with --web.unix-socket-mode=0666", socket)}
	case errors.Is(err, fs.ErrNotExist):
		r.Text = fmt.Sprintf("there is no socket %s", socket)
	case errors.Is(err, os.ErrDeadlineExceeded): // a full backlog, see connect(2)
		r = Result{Outcome: Timeout, Text: fmt.Sprintf("the daemon does not accept on %s in time", socket)}
	case errors.Is(err, syscall.EINVAL):
		r = Result{Outcome: Usage, Text: fmt.Sprintf("the path %s is too long for a socket", socket)}
	}
	return r
}

// broken returns the result for a connection that failed.
func broken(socket string, err error) Result {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return Result{Outcome: Timeout, Text: fmt.Sprintf("the daemon on %s does not answer in time", socket)}
	}
	return Result{Outcome: NoDaemon, Text: fmt.Sprintf("the daemon on %s closed the connection: %v", socket, err)}
}

// Read parses the daemon's HTTP response to a query for a state's verdict as
// ContentType.
func Read(status int, body []byte, state string) Result {
	switch {
	case len(body) > MaxAnswer:
		return wrong("more than %d bytes", MaxAnswer)
	case status == 404 && bytes.HasPrefix(body, []byte(NoSuchPath)):
		line, _, _ := bytes.Cut(body, []byte("\n"))
		return Result{Outcome: Usage, Text: fmt.Sprintf("the daemon has no state %q: %s", state, line[len(NoSuchPath):])}
	case status == 401, status == 403:
		return Result{Outcome: Forbidden, Text: fmt.Sprintf("the daemon requires authentication: status %d", status)}
	case status != 200:
		return wrong("status %d", status)
	}
	v, err := parseText(string(body))
	if err != nil {
		return wrong("%v", err)
	}
	if v.State != state {
		return wrong("it is about the state %.32q", v.State)
	}
	return ResultOf(v)
}

// wrong returns the result for a response that the daemon would not send.
func wrong(format string, args ...any) Result {
	return Result{Outcome: Protocol, Text: "the answer is not the daemon's: " + fmt.Sprintf(format, args...)}
}
