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
	// maxRead is how many bytes, those of TLS included, a round reads from its server.
	maxRead = 1 << 20
	// maxTCPLine is the length in bytes at which a line of an answer is too long.
	maxTCPLine = 4 << 10
)

// lines asks a server whose answers are lines that end with CR LF. what names a
// request in errors, because its text may hold a password. Errors hold answers uncut: the
// collector redacts them before it cuts them.
type lines struct {
	conn net.Conn
	read *bufio.Reader
}

func newTCPLines(conn net.Conn) *lines {
	return &lines{conn: conn, read: bufio.NewReaderSize(conn, maxTCPLine)}
}

func (l *lines) ask(what, request string) (answer string, err error) {
	if _, err := l.conn.Write([]byte(request)); err != nil {
		return "", fmt.Errorf("send %s: %w", what, err)
	}
	line, err := l.read.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", collectors.Errorf(remote.ReasonProtocol, "answer to %s is longer than %s without a line's end", what, collectors.Size(maxTCPLine))
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
