package collectors

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// tcpConn is a connection that ends with a round, whatever is asked of it.
type tcpConn struct {
	net.Conn
	until time.Time // zero without a deadline
	left  atomic.Int64
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

// boundTCP makes conn end with ctx. stop has to be called when the round is over.
func boundTCP(ctx context.Context, conn net.Conn) (bound *tcpConn, stop func() bool) {
	bound = &tcpConn{Conn: conn}
	bound.left.Store(maxTCPRead)
	bound.until, _ = ctx.Deadline()
	_ = conn.SetDeadline(bound.until)
	return bound, context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}
