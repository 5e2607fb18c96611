package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/internal/unixsocket"
)

// DefaultSocket is the default path of the Unix socket, also of the exec probe.
const DefaultSocket = "/run/vitals/vitals.sock"

// Socket holds the flags of the Unix socket.
type Socket struct {
	Path, Mode, Group string
	Writers           []string
}

// socketRights is the parsed form of Socket.
type socketRights struct {
	mode  fs.FileMode
	group int
	users []uint32
}

func (f Socket) rights() (r socketRights, err error) {
	const owner = 0o600
	mode, err := strconv.ParseUint(f.Mode, 8, 32)
	if err != nil || mode > 0o777 || mode&owner != owner {
		return r, fmt.Errorf("--web.unix-socket-mode=%s: expected octal permissions from 0600 to 0777 that let the owner read and write", f.Mode)
	}
	r = socketRights{mode: fs.FileMode(mode), group: unixsocket.OwnGroup}
	if f.Group != "" {
		gid, err := number(f.Group, func(name string) (string, error) {
			g, err := user.LookupGroup(name)
			if err != nil {
				return "", err
			}
			return g.Gid, nil
		})
		if err != nil {
			return r, fmt.Errorf("--web.unix-socket-group=%s: %w: expected the name or the number of a group", f.Group, err)
		}
		r.group = int(gid)
	}
	for _, writer := range f.Writers {
		uid, err := number(writer, func(name string) (string, error) {
			u, err := user.Lookup(name)
			if err != nil {
				return "", err
			}
			return u.Uid, nil
		})
		if err != nil {
			return r, fmt.Errorf("--web.unix-socket-writer=%s: %w: expected the name or the number of a user", writer, err)
		}
		r.users = append(r.users, uid)
	}
	return r, nil
}

// number returns the number of a user or a group. Names are resolved. A number needs no
// name, as in most containers. The largest number is refused: chown(2) reads it as "none".
func number(text string, lookup func(name string) (string, error)) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		if text, err = lookup(text); err == nil {
			n, err = strconv.ParseUint(text, 10, 32)
		}
	}
	if err == nil && n == math.MaxUint32 {
		err = strconv.ErrRange
	}
	return uint32(n), err
}

// openSocket opens the Unix socket. Without write access to its directory, the default
// socket is skipped and any other is an error.
func (l *Listeners) openSocket(f Socket) error {
	if f.Path == "" {
		return nil
	}
	rights, err := f.rights()
	if err != nil {
		return err
	}
	made, err := newSocket(f.Path, rights)
	var open *net.OpError
	switch {
	case errors.As(err, &open) && f.Path == DefaultSocket:
		l.logger.Info("no Unix socket", "path", f.Path, "err", err)
		return nil
	case err != nil:
		return fmt.Errorf("listen on the Unix socket %s: %w", f.Path, err)
	}
	l.rights = rights
	l.socket.Store(made)
	return nil
}

// removeDeadSocket removes a socket without a listener. Only a refused connection proves
// that: other errors may come from a process that is too busy to accept, or that refuses
// this user.
func removeDeadSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // no such file, or an error that the listener reports
	}
	if info.Mode()&os.ModeSocket == 0 {
		return errors.New("there is a file of another type")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		_ = conn.Close()
		return errors.New("another process answers on it")
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("another process may be using it: %v", err)
}
