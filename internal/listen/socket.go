package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/internal/unixsocket"
)

// DefaultSocket is the default path of the Unix socket, also of the exec probe.
const DefaultSocket = "/run/vitals/vitals.sock"

// UserSocket returns the path of the Unix socket of a daemon without write access to the default one: in
// XDG_RUNTIME_DIR, which belongs to a user alone (XDG Base Directory Specification 0.8). It is empty without such a
// directory.
func UserSocket(getenv func(string) string) string {
	dir := getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "vitals.sock")
}

// Socket holds the flags of the Unix socket.
type Socket struct {
	Path, Mode, Group string
	Writers           []string
	// Default marks a path that the user did not choose: root makes its directory, and a socket that cannot be
	// opened is no error. User is the path to try then; empty for no path.
	Default bool
	User    string
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

// openSocket opens the Unix socket. Root makes the directory of the default one. Where the default one cannot be
// opened, the socket of the user is, or none. Any other path that cannot be opened is an error.
func (l *Listeners) openSocket(f Socket) error {
	if f.Path == "" {
		return nil
	}
	rights, err := f.rights()
	if err != nil {
		return err
	}
	if f.Default && os.Geteuid() == 0 {
		makeDir(filepath.Dir(f.Path))
	}
	made, err := newSocket(f.Path, rights)
	var open *net.OpError
	switch {
	case err == nil:
	case !f.Default || !errors.As(err, &open):
		return fmt.Errorf("listen on the Unix socket %s: %w", f.Path, err)
	case f.User == "":
		l.logger.Info("no Unix socket", "path", f.Path, "err", err)
		return nil
	default:
		l.logger.Info("no Unix socket at the default path", "path", f.Path, "err", err)
		if made, err = newSocket(f.User, rights); err != nil {
			l.logger.Warn("no Unix socket", "path", f.User, "err", err)
			return nil
		}
	}
	l.rights = rights
	l.socket.Store(made)
	return nil
}

// makeDir makes a directory that all users may enter, unless there is one. An error shows when the socket is opened.
func makeDir(dir string) {
	if os.Mkdir(dir, 0o755) == nil {
		_ = os.Chmod(dir, 0o755) // whatever the umask
	}
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
		return errors.New("another process answers on it: choose another path with --web.unix-socket=PATH, or none with --web.unix-socket=")
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("another process may be using it: %v", err)
}
