package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/internal/unixsocket"
)

// writers are who may change something over the Unix socket: report for a component,
// reload. Who can connect may read, so the socket may be open to all who probe.
type writers struct {
	// own is the user that the daemon runs as.
	own uint32
	// users are further ones.
	users []uint32
	// group is the socket's.
	group uint32
	// closed is set if the socket's mode keeps all others from connecting.
	closed bool
	// overflowUser and overflowGroup are as which strangers show.
	overflowUser, overflowGroup overflowID
}

// newWriters looks at the socket's file: its group may come from the directory.
func newWriters(path string, r socketRights) (writers, error) {
	w := writers{own: uint32(os.Geteuid()), users: r.users, closed: r.mode&0o007 == 0}
	w.overflowUser, w.overflowGroup = overflowOf("/proc", "uid"), overflowOf("/proc", "gid")
	info, err := os.Lstat(path)
	if err != nil {
		return w, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return w, fmt.Errorf("the group of %s: %w", path, errors.ErrUnsupported)
	}
	w.group = stat.Gid
	return w, nil
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// mayWrite returns nil, or why the client may not change anything.
func (w *writers) mayWrite(r *http.Request) error {
	conn, ok := r.Context().Value(connectionKey{}).(*net.UnixConn)
	if !ok {
		return errors.New("this is no connection to the Unix socket")
	}
	peer, err := unixsocket.PeerOf(conn)
	if err != nil {
		return w.unknown(err)
	}
	return w.check(peer)
}

// unknown is about a peer that the system does not name: its connection then speaks
// for it, where the permissions let nobody else connect.
func (w *writers) unknown(err error) error {
	if errors.Is(err, errors.ErrUnsupported) && w.closed {
		return nil
	}
	return fmt.Errorf("nothing may be written here: %w", err)
}

func (w *writers) check(p unixsocket.Peer) error {
	stranger := w.overflowUser.is(p.UID)
	switch {
	case !stranger && (p.UID == 0 || p.UID == w.own || slices.Contains(w.users, p.UID)):
		return nil
	case !w.overflowGroup.is(w.group) && p.In(w.group):
		return nil
	case stranger:
		return fmt.Errorf("the user %d may read here and not write: in this user namespace that is everybody from outside it, so write as another user", p.UID)
	}
	return fmt.Errorf("the user %d may read here and not write: write as the daemon's user (%d) or in the socket's group (%d), or start vitals with --web.unix-socket-writer=%d",
		p.UID, w.own, w.group, p.UID)
}

// overflowID is the number as which the kernel shows all users, or all groups, that the
// process' user namespace does not have (user_namespaces(7)).
type overflowID struct {
	id uint32
	// shows is set if there are such users or groups.
	shows bool
}

// is says whether a number may stand for anyone.
func (o overflowID) is(id uint32) bool { return o.shows && id == o.id }

// overflowOf reads it below proc, for the kind uid or gid. There are strangers unless the
// namespace is known to have all numbers, as the initial one has.
func overflowOf(proc, kind string) overflowID {
	ids, err := os.ReadFile(filepath.Join(proc, "self", kind+"_map"))
	if err == nil && slices.Equal(strings.Fields(string(ids)), []string{"0", "0", "4294967295"}) {
		return overflowID{}
	}
	o := overflowID{id: 65534, shows: true} // the kernel's default, as in proc_sys_kernel(5)
	text, err := os.ReadFile(filepath.Join(proc, "sys", "kernel", "overflow"+kind))
	if err != nil {
		return o
	}
	if id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32); err == nil {
		o.id = uint32(id)
	}
	return o
}
