package tcp

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// maxRead bounds how many bytes, with those of TLS, a collection reads from its server.
	maxRead = 1 << 20
	// maxLine is the length in bytes of the longest line of an answer.
	maxLine = 4 << 10
)

// lines is a connection to a server whose answers are lines that end with CR LF. Errors
// contain whole answers: the collector redacts them before it cuts them.
type lines struct {
	conn net.Conn
	read *bufio.Reader
}

func newLines(conn net.Conn) *lines {
	return &lines{conn: conn, read: bufio.NewReaderSize(conn, maxLine)}
}

// exchange sends a request and returns the answer. what names the request in errors, because
// the request may contain a password.
func (l *lines) exchange(what, request string) (answer string, err error) {
	if _, err := l.conn.Write([]byte(request)); err != nil {
		return "", fmt.Errorf("send %s: %w", what, err)
	}
	line, err := l.read.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", collectors.Errorf(remote.ReasonProtocol, "answer to %s is longer than %s without a line's end", what, collectors.Size(maxLine))
	}
	if err != nil {
		return "", fmt.Errorf("read answer to %s: %w", what, err)
	}
	answer, ok := strings.CutSuffix(string(line), "\r\n")
	if !ok {
		return "", collectors.Errorf(remote.ReasonProtocol, "expected CR LF in the answer to %s, got %q", what, answer)
	}
	return answer, nil
}
