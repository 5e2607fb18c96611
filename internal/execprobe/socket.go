//go:build unix

package execprobe

import (
	"io"
	"os"
	"syscall"
	"time"
)

// conn is a connection to a Unix socket. It uses blocking system calls, each of which
// ends at the deadline. Package net uses the runtime's poller, whose setup takes a tenth
// of the run time of a process as short as this one.
type conn struct {
	fd       int
	deadline time.Time
}

// dial connects. It waits until the deadline for a daemon that does not accept.
func dial(path string, deadline time.Time) (*conn, error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	c := &conn{fd, deadline}
	err = c.until(syscall.SO_SNDTIMEO, func() error { return syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) })
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// until repeats a call that a signal interrupts. It sets the remaining time as the
// call's timeout: SO_SNDTIMEO, which applies to connect as well, or SO_RCVTIMEO, see
// socket(7).
func (c *conn) until(limit int, call func() error) error {
	for {
		left := time.Until(c.deadline)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		timeout := syscall.NsecToTimeval(max(left, time.Microsecond).Nanoseconds()) // 0 means no timeout
		if err := syscall.SetsockoptTimeval(c.fd, syscall.SOL_SOCKET, limit, &timeout); err != nil {
			return err
		}
		switch err := call(); err {
		case syscall.EINTR:
		case syscall.EAGAIN:
			return os.ErrDeadlineExceeded
		default:
			return err
		}
	}
}

// Read implements io.Reader.
func (c *conn) Read(p []byte) (n int, err error) {
	err = c.until(syscall.SO_RCVTIMEO, func() (err error) {
		n, err = syscall.Read(c.fd, p)
		return err
	})
	if err == nil && n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return max(n, 0), err
}

// Write implements io.Writer.
func (c *conn) Write(p []byte) (n int, err error) {
	for n < len(p) {
		var written int
		err := c.until(syscall.SO_SNDTIMEO, func() (err error) {
			written, err = syscall.Write(c.fd, p[n:])
			return err
		})
		if err != nil {
			return n, err
		}
		n += written
	}
	return n, nil
}

// Close implements io.Closer.
func (c *conn) Close() error { return syscall.Close(c.fd) }
