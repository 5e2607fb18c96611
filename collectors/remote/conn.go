package remote

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// Conn is a connection for one collection: its deadlines are never later than that of the
// collection, and reads fail beyond its limit.
type Conn struct {
	net.Conn
	until time.Time // zero without a deadline
	limit int64     // in bytes
	left  atomic.Int64
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	left := c.left.Load()
	if left <= 0 {
		return 0, collectors.Errorf(ReasonProtocol, "answer is larger than %s", collectors.Size(c.limit))
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), left)])
	c.left.Add(int64(-n))
	return n, err
}

// SetDeadline implements net.Conn. A deadline after that of the collection has no effect.
func (c *Conn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.earlier(t)) }

// SetReadDeadline implements net.Conn, as SetDeadline does.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.earlier(t)) }

// SetWriteDeadline implements net.Conn, as SetDeadline does.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(c.earlier(t)) }

func (c *Conn) earlier(t time.Time) time.Time {
	if t.IsZero() || !c.until.IsZero() && c.until.Before(t) {
		return c.until
	}
	return t
}

// Bound returns conn with the deadline of ctx and a limit of bytes that can be read. It also
// ends reads and writes when ctx is cancelled, until the caller calls stop.
func Bound(ctx context.Context, conn net.Conn, limit int64) (bound *Conn, stop func() bool) {
	bound = &Conn{Conn: conn, limit: limit}
	bound.left.Store(limit)
	bound.until, _ = ctx.Deadline()
	_ = conn.SetDeadline(bound.until)
	return bound, context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}
