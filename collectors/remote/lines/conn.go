package lines

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// maxLine is the length in bytes of the longest line of an answer.
const maxLine = 4 << 10

// Conn is a connection to a server whose answers are lines that end with CR LF. Errors
// contain whole answers: the caller redacts them before it cuts them.
type Conn struct {
	conn net.Conn
	read *bufio.Reader
}

// New returns a Conn that reads ahead: nothing else may read from conn.
func New(conn net.Conn) *Conn {
	return &Conn{conn: conn, read: bufio.NewReaderSize(conn, maxLine)}
}

// Exchange sends a request and returns the first line of the answer. what names the request in
// errors, because the request may contain a password.
func (c *Conn) Exchange(what, request string) (answer string, err error) {
	_, sent := c.conn.Write([]byte(request))
	// A server that is full answers and closes before the request arrives.
	answer, err = c.Line(what)
	if sent != nil && err != nil {
		return "", fmt.Errorf("send %s: %w", what, sent)
	}
	return answer, err
}

// Line returns the next line of the answer to what.
func (c *Conn) Line(what string) (string, error) {
	line, err := c.read.ReadSlice('\n')
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
