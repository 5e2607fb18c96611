package connlimit

import (
	"cmp"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Buffers of a connection in the kernel, in bytes; Linux doubles them. Without a bound they
// grow to 4 MiB and more for a client that does not read, at the cost of the cgroup.
const (
	// waitingBuffer is the read buffer of a connection that waits: 4 KiB in Linux, about the least
	// that it has.
	waitingBuffer = 2 << 10
	readBuffer    = 16 << 10
	writeBuffer   = 32 << 10
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
	if s, ok := ln.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil { // Without the bound, the listener works as well.
			// Connections inherit the buffer, also before they are accepted.
			_ = raw.Control(func(fd uintptr) {
				_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, waitingBuffer)
			})
		}
	}
	return &listener{Listener: ln, pool: p, failed: make(chan error), ended: make(chan struct{})}
}

// Accept returns the next connection to serve.
func (l *listener) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.receive() })
	for {
		c, wait := l.pool.next(time.Now())
		if c != nil {
			c.enlargeBuffer()
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
	from origin
	// number counts the connections of the process in the order of their arrival.
	number uint64
	// quiet is set until the first byte is read.
	quiet atomic.Bool
	// The pool's mu guards what follows: the phase, the time of its last change, and when
	// the pool began to serve the connection.
	phase         phase
	since, served time.Time
}

func newConn(p *Pool, c net.Conn) *conn {
	if b, ok := c.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = b.SetWriteBuffer(writeBuffer) // Without the bound, the connection works as well.
	}
	w := &conn{Conn: c, pool: p, from: originOf(c.RemoteAddr()), phase: silent, since: time.Now()}
	w.quiet.Store(true)
	return w
}

// enlargeBuffer lets the kernel buffer whole requests, of a connection that no longer waits.
func (c *conn) enlargeBuffer() {
	if b, ok := c.Conn.(interface{ SetReadBuffer(bytes int) error }); ok {
		_ = b.SetReadBuffer(readBuffer) // without it, the client sends slowly
	}
}

// patience returns how long the connection is kept in its phase for a client that has as many
// connections.
func (c *conn) patience(newcomer origin) time.Duration {
	switch {
	case c.phase == busy, c.phase == unfinished && c.from.address == newcomer.address:
		return busyPatience
	case c.phase == idle && c.since.Sub(c.served) > busyPatience: // small requests do not keep a place
		return 0
	}
	return quietPatience
}

// before orders connections as they are closed: by their phase, then the one that has been idle
// longest, or else the oldest. A client that sends many requests is not newer for that.
func (c *conn) before(other *conn) bool {
	age := c.served.Compare(other.served)
	if c.phase == idle {
		age = c.since.Compare(other.since)
	}
	return cmp.Or(cmp.Compare(c.phase, other.phase), age, cmp.Compare(c.number, other.number)) < 0
}

// Read reads from the connection.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.quiet.Load() && c.quiet.Swap(false) {
		c.pool.enter(c, unfinished)
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
