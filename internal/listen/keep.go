package listen

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/vitals-health/vitals/internal/unixsocket"
)

// keepInterval is how often the file of the Unix socket is looked at.
const keepInterval = 500 * time.Millisecond

// socket is an open Unix socket.
type socket struct {
	path    string
	ln      *net.UnixListener
	file    fs.FileInfo
	writers writers
}

// newSocket opens a Unix socket, in the place of one without a listener.
func newSocket(path string, rights socketRights) (*socket, error) {
	if err := removeDeadSocket(path); err != nil {
		return nil, err
	}
	ln, err := unixsocket.Listen(path, rights.mode, rights.group)
	if err != nil {
		return nil, err
	}
	s := &socket{path: path, ln: ln}
	if s.file, err = os.Lstat(path); err == nil {
		s.writers, err = newWriters(s.file, rights)
	}
	if err != nil {
		_ = ln.Close()
		return nil, err
	}
	return s, nil
}

// there reports whether the socket's file is at its path. The kernel does not use the number
// of a removed file again while the socket is open.
func (s *socket) there() bool {
	info, err := os.Lstat(s.path)
	return err == nil && os.SameFile(info, s.file)
}

// UnixSocket reports whether clients reach the Unix socket. ok is false where none is open.
func (l *Listeners) UnixSocket() (listening, ok bool) {
	if l == nil || l.socket.Load() == nil {
		return false, false
	}
	return !l.lost.Load(), true
}

// serveSocket serves on a socket until it is closed or replaced.
func (l *Listeners) serveSocket(s *socket, failed chan<- error) {
	err := l.local.server.Serve(l.local.pool.Listen(s.ln))
	if l.socket.Load() == s && !errors.Is(err, http.ErrServerClosed) {
		failed <- err
	}
}

// keepSocket makes the Unix socket again when its file is removed, until ctx ends.
func (l *Listeners) keepSocket(ctx context.Context, failed chan<- error) {
	ticker := time.NewTicker(keepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if s := l.remade(); s != nil {
				go l.serveSocket(s, failed)
			}
		}
	}
}

// remade returns a new socket in the place of one whose file was removed; nil if there is
// none. A file of another process stays.
func (l *Listeners) remade() *socket {
	old := l.socket.Load()
	there := old.there()
	first := !l.lost.Swap(!there) && !there
	old.ln.SetUnlinkOnClose(there) // else it would remove the file of another
	if there {
		return nil
	}
	s, err := newSocket(old.path, l.rights)
	if err != nil {
		if first {
			l.logger.Error("the Unix socket was removed and cannot be made again yet", "socket", filepath.Clean(old.path), "err", err)
		}
		return nil
	}
	l.socket.Store(s)
	l.lost.Store(false)
	_ = old.ln.Close()
	l.logger.Warn("the Unix socket was removed and made again", "socket", filepath.Clean(old.path))
	return s
}
