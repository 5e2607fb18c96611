package components

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// maxNotification is the longest datagram that is read, as in systemd: PIPE_BUF.
	maxNotification = 4096
	// socketCheck is the interval of the checks whether a socket was removed or replaced,
	// or is no longer in use by another process.
	socketCheck = time.Second
)

// notifySocket is the datagram socket of one component.
type notifySocket struct {
	name, path string
	// Only listen uses the fields below. conn is nil while the socket does not listen.
	conn *net.UnixConn
	// info identifies the socket file: a file of another process is not removed.
	info fs.FileInfo
	// done is closed when the goroutine that reads conn has ended.
	done chan struct{}
}

// listen keeps all sockets open until ctx ends, and then removes them.
func (c *Collector) listen(ctx context.Context) {
	ticker := time.NewTicker(socketCheck)
	defer ticker.Stop()
	g, ctx := errgroup.WithContext(ctx)
	defer func() {
		for _, s := range c.sockets {
			s.close()
		}
		panics.Raise(g.Wait())
	}()
	for ctx.Err() == nil {
		for _, s := range c.sockets {
			c.setFault(s.name, c.ensure(s, g))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// ensure opens a socket that is not open, and replaces one whose file is gone.
func (c *Collector) ensure(s *notifySocket, g *errgroup.Group) error {
	if s.conn != nil && s.reachable() {
		return nil
	}
	s.close()
	if err := s.open(c.mode); err != nil {
		return fmt.Errorf("listen for notifications of %q: %w", s.name, err)
	}
	conn, done := s.conn, make(chan struct{})
	s.done = done
	g.Go(panics.Caught(func() {
		defer close(done)
		c.readNotifications(s.name, conn)
	}))
	return nil
}

// setFault records the state of a socket. It starts a collection when the state changes.
func (c *Collector) setFault(name string, err error) {
	c.mu.Lock()
	before, changed := c.faults[name], c.changed
	c.faults[name] = err
	c.mu.Unlock()
	if (before == nil) != (err == nil) {
		changed()
	}
}

// readNotifications reads datagrams until the socket is closed. It has no buffer for
// control messages, so the kernel closes descriptors in a datagram: FDSTORE=1 leaks none,
// and the sender of BARRIER=1 gets its answer. Sources: unix(7), sd_notify(3).
func (c *Collector) readNotifications(name string, conn *net.UnixConn) {
	buf := make([]byte, maxNotification+1)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		c.notify(time.Now(), name, buf[:n])
	}
}

// notify processes one datagram of a component.
func (c *Collector) notify(at time.Time, name string, data []byte) {
	n := parseNotification(data)
	c.checkEvents(&n)
	// The component is expected, so update finds it.
	_ = c.update(at, name, func(comp *component) {
		if n.invalid {
			comp.invalid++
		}
		if n.deadline > 0 {
			comp.deadline = n.deadline
		}
		if n.report != nil {
			comp.report(at, *n.report, "notify")
		}
	})
}

// checkEvents adds the valid events to the report.
func (c *Collector) checkEvents(n *notification) {
	for i, e := range n.events {
		switch {
		case i >= maxEvents, c.eventProblem(n.events[i:i+1]) != "":
			n.invalid = true
		default:
			n.ensureReport().Events = append(n.ensureReport().Events, e)
		}
	}
}

// open creates the socket and its directory. It replaces the file of a process that has
// ended.
func (s *notifySocket) open(mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	if err := removeStale(s.path); err != nil {
		return err
	}
	lc := net.ListenConfig{Control: ownerOnly}
	conn, err := lc.ListenPacket(context.Background(), "unixgram", s.path)
	if err != nil {
		return err
	}
	s.conn = conn.(*net.UnixConn)
	s.info, err = os.Lstat(s.path)
	if err == nil {
		err = files.SetSocketMode(s.path, mode)
	}
	if err != nil {
		s.close()
	}
	return err
}

// reachable reports whether the socket is being read and its file is unchanged.
func (s *notifySocket) reachable() bool {
	select {
	case <-s.done:
		return false
	default:
	}
	info, err := os.Lstat(s.path)
	return err == nil && os.SameFile(info, s.info)
}

// close closes the socket and removes its file, unless that is of another process.
func (s *notifySocket) close() {
	if s.conn == nil {
		return
	}
	if info, err := os.Lstat(s.path); err == nil && s.info != nil && os.SameFile(info, s.info) {
		_ = os.Remove(s.path)
	}
	_ = s.conn.Close()
	s.conn, s.info = nil, nil
}

// removeStale removes a socket file without a listener. It returns an error for a socket
// in use and for a file of another type.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	switch {
	case err == nil:
		_ = conn.Close()
		return fmt.Errorf("%s is in use by another process", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	case errors.Is(err, syscall.EPROTOTYPE):
		return fmt.Errorf("%s is in use as another type of socket", path)
	}
	return err
}
