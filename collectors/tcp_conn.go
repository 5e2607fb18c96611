package collectors

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// maxTCPRead is how many bytes, those of TLS included, a round reads from its server.
	maxTCPRead = 1 << 20
	// maxTCPLine is the length in bytes at which a line of an answer is too long.
	maxTCPLine = 4 << 10
)

// tcpConn is a connection that ends with a round, whatever is asked of it.
type tcpConn struct {
	net.Conn
	until time.Time // zero without a deadline
	left  atomic.Int64
}

// boundTCP makes conn end with ctx. stop has to be called when the round is over.
func boundTCP(ctx context.Context, conn net.Conn) (bound *tcpConn, stop func() bool) {
	bound = &tcpConn{Conn: conn}
	bound.left.Store(maxTCPRead)
	bound.until, _ = ctx.Deadline()
	_ = conn.SetDeadline(bound.until)
	return bound, context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}

// Read implements net.Conn.
func (c *tcpConn) Read(b []byte) (int, error) {
	left := c.left.Load()
	if left <= 0 {
		return 0, failed(ReasonProtocol, "answer is larger than %s", Size(maxTCPRead))
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), left)])
	c.left.Add(int64(-n))
	return n, err
}

// SetDeadline implements net.Conn. The end of the round stays the latest.
func (c *tcpConn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.earlier(t)) }

// SetReadDeadline implements net.Conn, as SetDeadline does.
func (c *tcpConn) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.earlier(t)) }

// SetWriteDeadline implements net.Conn, as SetDeadline does.
func (c *tcpConn) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(c.earlier(t)) }

func (c *tcpConn) earlier(t time.Time) time.Time {
	if t.IsZero() || !c.until.IsZero() && c.until.Before(t) {
		return c.until
	}
	return t
}

// tcpLines asks a server whose answers are lines that end with CR LF. what names a
// request in errors, because its text may hold a password. Errors hold answers uncut: the
// collector redacts them before it cuts them.
type tcpLines struct {
	conn net.Conn
	read *bufio.Reader
}

func newTCPLines(conn net.Conn) *tcpLines {
	return &tcpLines{conn: conn, read: bufio.NewReaderSize(conn, maxTCPLine)}
}

func (l *tcpLines) ask(what, request string) (answer string, err error) {
	if _, err := l.conn.Write([]byte(request)); err != nil {
		return "", fmt.Errorf("send %s: %w", what, err)
	}
	line, err := l.read.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", failed(ReasonProtocol, "answer to %s is longer than %s without a line's end", what, Size(maxTCPLine))
	}
	if err != nil {
		return "", fmt.Errorf("read answer to %s: %w", what, err)
	}
	answer, ok := strings.CutSuffix(string(line), "\r\n")
	if !ok {
		return "", failed(ReasonProtocol, "expected CR LF in the answer to %s, got %q", what, answer)
	}
	return answer, nil
}
