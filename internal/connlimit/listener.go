package connlimit

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Buffers of a connection in the kernel, in bytes; Linux doubles them. Without a bound they
// grow to 4 MiB and more for a client that does not read, at the cost of the cgroup.
const (
	readBuffer  = 16 << 10
	writeBuffer = 32 << 10
)

// listener accepts connections as soon as they arrive, and returns them when the pool
// serves them.
type listener struct {
	net.Listener
	pool   *Pool
	start  sync.Once
	failed chan error
	end    sync.Once
	ended  chan struct{}
}

// Listen returns a listener whose connections are in the pool. The pool may have several;
// they share their connections, so they must belong to the same server.
func (p *Pool) Listen(ln net.Listener) net.Listener {
	p.join()
	return &listener{Listener: ln, pool: p, failed: make(chan error), ended: make(chan struct{})}
}

// Accept returns the next connection to serve.
func (l *listener) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.receive() })
	for {
		c, wait := l.pool.next(time.Now())
		if c != nil {
			return c, nil
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-l.pool.changed:
		case <-timer:
		case err := <-l.failed:
			return nil, err
		case <-l.ended:
			return nil, net.ErrClosed
		}
	}
}

// receive accepts connections until the listener is closed.
func (l *listener) receive() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			l.pool.arrive(newConn(l.pool, c))
			continue
		}
		select {
		case l.failed <- err:
		case <-l.ended:
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// Close closes the listener.
func (l *listener) Close() error {
	err := l.Listener.Close()
	l.end.Do(func() {
		close(l.ended)
		l.pool.part()
	})
	return err
}

// conn is a connection of a pool.
type conn struct {
	net.Conn
	pool *Pool
	from netip.Prefix
	// quiet is set until the first byte is read.
	quiet atomic.Bool
	// The pool's mu guards what follows: the phase, the time of its last change, and when
	// the pool began to serve the connection.
	phase         phase
	since, served time.Time
}

func newConn(p *Pool, c net.Conn) *conn {
	if b, ok := c.(interface {
		SetReadBuffer(bytes int) error
		SetWriteBuffer(bytes int) error
	}); ok { // Without the bounds, the connection works as well.
		_, _ = b.SetReadBuffer(readBuffer), b.SetWriteBuffer(writeBuffer)
	}
	w := &conn{Conn: c, pool: p, from: addressOf(c.RemoteAddr()), phase: silent, since: time.Now()}
	w.quiet.Store(true)
	return w
}

// addressOf returns the address of a client. A client with IPv6 usually has 64 bits of its
// own. All clients of a Unix socket have the same address.
func addressOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	from, _ := ip.Prefix(bits) // The address has as many bits.
	return from
}

// patience returns how long the connection is kept for others of its address.
func (c *conn) patience() time.Duration {
	switch c.phase {
	case silent:
		return silentPatience
	case busy:
		return busyPatience
	}
	return 0
}

// order returns the time by which connections of a phase are ordered. A client that sends
// many requests is not newer for that.
func (c *conn) order() time.Time {
	if c.phase == idle {
		return c.since
	}
	return c.served
}

// Read reads from the connection.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.quiet.Load() && c.quiet.Swap(false) {
		c.pool.enter(c, busy)
	}
	return n, err
}

// Write writes to the connection. After an error, such as the timeout for a client that
// does not read, the kernel does not keep the rest.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.drop()
	}
	return n, err
}

// CloseWrite ends the response, for net/http.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection and makes room for another one.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.pool.leave(c)
	return err
}

// drop makes the kernel forget at the close what the client has not read.
func (c *conn) drop() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// reset closes a connection for another one. It blocks for microseconds only, and the
// descriptor is free afterwards.
func (c *conn) reset() {
	c.drop()
	_ = c.Conn.Close()
}

// Below returns the connection that the kernel gave, of one that the server got.
func Below(c net.Conn) net.Conn {
	if own, ok := c.(*conn); ok {
		return own.Conn
	}
	return c
}
