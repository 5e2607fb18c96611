package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/internal/connlimit"
	"github.com/vitals-health/vitals/internal/grpchealth"
	"github.com/vitals-health/vitals/internal/server/access"
	"github.com/vitals-health/vitals/internal/unixsocket"
)

// writers are the users that may change something over the Unix socket: report for a
// component, reload. Every user that can connect may read.
type writers struct {
	// own is the user that the daemon runs as.
	own uint32
	// users are further users.
	users []uint32
	// group is the group of the socket.
	group uint32
	// closed is set if the socket's mode lets no other user connect.
	closed bool
	// overflowUser and overflowGroup are the numbers that the kernel shows for users and
	// groups outside of the user namespace.
	overflowUser, overflowGroup overflowID
}

// newWriters takes the group from the socket's file, because it may be inherited from the
// directory.
func newWriters(file fs.FileInfo, r socketRights) (writers, error) {
	w := writers{own: uint32(os.Geteuid()), users: r.users, closed: r.mode&0o007 == 0}
	w.overflowUser, w.overflowGroup = overflowOf("/proc", "uid"), overflowOf("/proc", "gid")
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return w, fmt.Errorf("the group of %s: %w", file.Name(), errors.ErrUnsupported)
	}
	w.group = stat.Gid
	return w, nil
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	below := connlimit.Below(c)
	ctx = context.WithValue(grpchealth.Context(ctx, c), connectionKey{}, below)
	return access.WithPeer(ctx, func() string { return peerName(below) })
}

// peerName returns the user at the other end of a connection to the Unix socket, by the name
// that the system of the daemon has for it.
func peerName(c net.Conn) string {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return "an unknown user"
	}
	peer, err := unixsocket.PeerOf(conn)
	if err != nil {
		return "an unknown user"
	}
	uid := strconv.FormatUint(uint64(peer.UID), 10)
	if known, err := user.LookupId(uid); err == nil {
		return known.Username + " (uid " + uid + ")"
	}
	return "uid " + uid
}

// mayWrite is that of the Unix socket.
func (l *Listeners) mayWrite(r *http.Request) error { return l.socket.Load().writers.mayWrite(r) }

// mayWrite returns nil, or the reason why the client may not change anything.
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

// unknown decides on a client whose user the system does not report: it may write if the
// permissions of the socket let no other user connect.
func (w *writers) unknown(err error) error {
	if errors.Is(err, errors.ErrUnsupported) && w.closed {
		return nil
	}
	return fmt.Errorf("the client's user is unknown, so it may not write: %w", err)
}

func (w *writers) check(p unixsocket.Peer) error {
	outside := w.overflowUser.is(p.UID)
	switch {
	case !outside && (p.UID == 0 || p.UID == w.own || slices.Contains(w.users, p.UID)):
		return nil
	case !w.overflowGroup.is(w.group) && p.In(w.group):
		return nil
	case outside:
		return fmt.Errorf("the user %d may read and not write: in this user namespace the number stands for all users outside of it, so write as another user", p.UID)
	}
	return fmt.Errorf("the user %d may read and not write: write as the daemon's user (%d) or in the socket's group (%d), or start vitals with --web.unix-socket-writer=%d",
		p.UID, w.own, w.group, p.UID)
}

// overflowID is the number that the kernel shows for all users, or all groups, outside of
// the user namespace of the process (user_namespaces(7)).
type overflowID struct {
	id uint32
	// shows is set if there may be such users or groups.
	shows bool
}

// is reports whether a number may stand for users outside of the namespace.
func (o overflowID) is(id uint32) bool { return o.shows && id == o.id }

// overflowOf reads the overflow number below proc, for the kind uid or gid. It is unused
// where the namespace maps all numbers, as the initial one does.
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
