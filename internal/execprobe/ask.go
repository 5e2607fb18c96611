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

// MaxAnswer bounds what is read of the daemon's answer, in bytes.
const MaxAnswer = 64 << 10

// NoSuchPath is what the daemon's answer begins with where it has no such state.
// Another program's 404 says nothing about states.
const NoSuchPath = "there is nothing at this path: "

// Ask asks the daemon on a Unix socket for a state's verdict. Everything together
// takes at most until the deadline. What goes wrong is a result as well.
//
// The request is HTTP/1.0, so that the answer ends with the connection and needs no
// client of net/http, which would double the size of the program.
func Ask(socket, state string, deadline time.Time) Result {
	conn, err := dial(socket, deadline)
	if err != nil {
		return dialed(socket, err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /api/v1/verdict/%s HTTP/1.0\r\nHost: vitals\r\nAccept: "+ContentType+"\r\n\r\n", state); err != nil {
		return unanswered(socket, err)
	}
	answer, err := io.ReadAll(io.LimitReader(conn, MaxAnswer+1))
	if err != nil {
		return unanswered(socket, err)
	}
	return read(answer, state)
}

// dialed is the result of a socket that cannot be connected to.
func dialed(socket string, err error) Result {
	r := Result{Outcome: NoDaemon, Text: fmt.Sprintf("nobody listens on %s", socket)}
	switch {
	case errors.Is(err, fs.ErrPermission):
		r = Result{Outcome: Forbidden, Text: fmt.Sprintf("%s may not be used: run as the daemon's user or in the socket's group, or let everybody probe with --web.unix-socket-mode=0666", socket)}
	case errors.Is(err, fs.ErrNotExist):
		r.Text = fmt.Sprintf("there is no socket %s", socket)
	case errors.Is(err, os.ErrDeadlineExceeded): // a full backlog, see connect(2)
		r = Result{Outcome: Timeout, Text: fmt.Sprintf("the daemon does not accept on %s in time", socket)}
	case errors.Is(err, syscall.EINVAL):
		r = Result{Outcome: Usage, Text: fmt.Sprintf("the path %s is too long for a socket", socket)}
	}
	return r
}

// unanswered is the result of a connection that broke.
func unanswered(socket string, err error) Result {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return Result{Outcome: Timeout, Text: fmt.Sprintf("the daemon on %s does not answer in time", socket)}
	}
	return Result{Outcome: NoDaemon, Text: fmt.Sprintf("the daemon on %s hung up: %v", socket, err)}
}

// read reads an answer in HTTP/1.0, whose body ends with the connection.
func read(answer []byte, state string) Result {
	if len(answer) > MaxAnswer {
		return wrong("more than %d bytes", MaxAnswer)
	}
	head, body, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
	var version string
	var status int
	if _, err := fmt.Sscanf(string(head), "%s %d", &version, &status); err != nil || !ok || !strings.HasPrefix(version, "HTTP/") {
		return wrong("no HTTP")
	}
	return Read(status, body, state)
}

// Read reads what the daemon answered when it was asked over HTTP for a state's verdict
// as ContentType.
func Read(status int, body []byte, state string) Result {
	switch {
	case len(body) > MaxAnswer:
		return wrong("more than %d bytes", MaxAnswer)
	case status == 404 && bytes.HasPrefix(body, []byte(NoSuchPath)):
		line, _, _ := bytes.Cut(body, []byte("\n"))
		return Result{Outcome: Usage, Text: fmt.Sprintf("the daemon has no state %q: %s", state, line[len(NoSuchPath):])}
	case status == 401, status == 403:
		return Result{Outcome: Forbidden, Text: fmt.Sprintf("the daemon does not tell without a login: status %d", status)}
	case status != 200:
		return wrong("status %d", status)
	}
	v, err := parseText(string(body))
	if err != nil {
		return wrong("%v", err)
	}
	if v.State != state {
		return wrong("it is of the state %.32q", v.State)
	}
	return Judge(v)
}

// wrong is the result of an answer that a daemon would not give.
func wrong(format string, args ...any) Result {
	return Result{Outcome: Protocol, Text: "the answer is not the daemon's: " + fmt.Sprintf(format, args...)}
}
