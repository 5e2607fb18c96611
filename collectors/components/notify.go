package components

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// maxNotification is the longest datagram that is read, as in systemd: PIPE_BUF.
	maxNotification = 4096
	// socketCheck is how often the sockets are looked at: whether somebody removed
	// or replaced one, and whether one that was in use has become free.
	socketCheck = time.Second
)

// notifySocket is the datagram socket of one component.
type notifySocket struct {
	name, path string
	// The rest belongs to listen. conn is nil while the socket does not listen.
	conn *net.UnixConn
	// info identifies the socket file, so that another process' is not removed.
	info fs.FileInfo
	// done is closed when nobody reads conn any more.
	done chan struct{}
}

// listen keeps all sockets open until ctx ends, and then removes them.
func (c *Collector) listen(ctx context.Context) {
	ticker := time.NewTicker(socketCheck)
	defer ticker.Stop()
	var wg sync.WaitGroup
	for ctx.Err() == nil {
		for _, s := range c.sockets {
			c.setFault(s.name, c.ensure(s, &wg))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	for _, s := range c.sockets {
		s.close()
	}
	wg.Wait()
}

// ensure opens a socket that is not open, and gives up one that nobody can reach
// any more because its file is gone.
func (c *Collector) ensure(s *notifySocket, wg *sync.WaitGroup) error {
	if s.conn != nil && s.reachable() {
		return nil
	}
	s.close()
	if err := s.open(c.mode); err != nil {
		return fmt.Errorf("listen for notifications of %q: %w", s.name, err)
	}
	conn, done := s.conn, make(chan struct{})
	s.done = done
	wg.Go(func() {
		defer close(done)
		c.readNotifications(s.name, conn)
	})
	return nil
}

// setFault keeps the state of a component's socket, and asks for a round when it changes.
func (c *Collector) setFault(name string, err error) {
	c.mu.Lock()
	before, ask := c.faults[name], c.changed
	c.faults[name] = err
	c.mu.Unlock()
	if (before == nil) != (err == nil) {
		ask()
	}
}

// readNotifications takes datagrams until the socket is closed. They are read
// without a buffer for control messages: the kernel then closes descriptors that
// came along. That keeps FDSTORE=1 from leaking them, and is all the answer that a
// sender of BARRIER=1 waits for. Sources: unix(7), sd_notify(3).
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

// notify takes one datagram of a component.
func (c *Collector) notify(at time.Time, name string, data []byte) {
	n := parseNotification(data)
	c.checkEvents(&n)
	// The name is one of the expected, so update finds it.
	_ = c.update(at, name, func(comp *collector) {
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

// checkEvents moves the events that can be taken to the report.
func (c *Collector) checkEvents(n *notification) {
	for i, e := range n.events {
		switch {
		case i >= maxEvents, c.eventProblem(n.events[i:i+1]) != "":
			n.invalid = true
		default:
			n.said().Events = append(n.said().Events, e)
		}
	}
}

// open makes the socket, its directory where that is missing, and takes the place
// of a file that an earlier process left behind.
func (s *notifySocket) open(mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	if err := removeStale(s.path); err != nil {
		return err
	}
	lc := net.ListenConfig{Control: ownersAlone}
	conn, err := lc.ListenPacket(context.Background(), "unixgram", s.path)
	if err != nil {
		return err
	}
	s.conn = conn.(*net.UnixConn)
	s.info, err = os.Lstat(s.path)
	if err == nil {
		err = os.Chmod(s.path, mode)
	}
	if err != nil {
		s.close()
	}
	return err
}

// reachable says whether somebody reads the socket and its file is in its place.
func (s *notifySocket) reachable() bool {
	select {
	case <-s.done:
		return false
	default:
	}
	info, err := os.Lstat(s.path)
	return err == nil && os.SameFile(info, s.info)
}

// close ends reading, and removes the socket's file unless it is another's by now.
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

// removeStale removes a socket file on which nobody listens. It leaves alone, with
// an error, a socket that is in use and whatever is no socket.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is there and is not a socket", path)
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
