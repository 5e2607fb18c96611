package main

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

// defaultSocket is where the exec probe looks.
const defaultSocket = "/run/vitals/vitals.sock"

// socketFlags are what the flags say of the Unix socket.
type socketFlags struct {
	path, mode, group string
	writers           []string
}

// socketRights is what socketFlags mean.
type socketRights struct {
	mode  fs.FileMode
	group int
	users []uint32
}

func (f socketFlags) rights() (r socketRights, err error) {
	const owner = 0o600
	mode, err := strconv.ParseUint(f.mode, 8, 32)
	if err != nil || mode > 0o777 || mode&owner != owner {
		return r, fmt.Errorf("--web.unix-socket-mode=%s: expected octal permissions from 0600 to 0777 that let the owner read and write", f.mode)
	}
	r = socketRights{mode: fs.FileMode(mode), group: unixsocket.OwnGroup}
	if f.group != "" {
		gid, err := number(f.group, func(name string) (string, error) {
			g, err := user.LookupGroup(name)
			if err != nil {
				return "", err
			}
			return g.Gid, nil
		})
		if err != nil {
			return r, fmt.Errorf("--web.unix-socket-group=%s: %w: expected the name or the number of a group", f.group, err)
		}
		r.group = int(gid)
	}
	for _, writer := range f.writers {
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

// number is the number of a user or a group. Names are looked up; a number need not
// have one, as in most containers. The last number means "none" to chown(2).
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

// openSocket opens the Unix socket. The default one is left out where its directory
// cannot be written to.
func (l *listeners) openSocket(f socketFlags) error {
	if f.path == "" {
		return nil
	}
	rights, err := f.rights()
	if err != nil {
		return err
	}
	if err := removeDeadSocket(f.path); err != nil {
		return err
	}
	ln, err := unixsocket.Listen(f.path, rights.mode, rights.group)
	var open *net.OpError
	switch {
	case errors.As(err, &open) && f.path == defaultSocket:
		l.logger.Info("no Unix socket", "path", f.path, "err", err)
		return nil
	case err != nil:
		return fmt.Errorf("listen on the Unix socket %s: %w", f.path, err)
	}
	l.local = append(l.local, ln)
	l.writers, err = newWriters(f.path, rights)
	return err
}

// removeDeadSocket removes a socket that nobody listens on any more. Only a refused
// connection says so: a process that is too busy to accept, or that this one may
// not talk to, is alive.
func removeDeadSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // not there, or for the listener to complain about
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("listen on the Unix socket %s: there is a file of another type", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		_ = conn.Close()
		return fmt.Errorf("listen on the Unix socket %s: another process answers on it", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("listen on the Unix socket %s: another process may be using it: %w", path, err)
}
