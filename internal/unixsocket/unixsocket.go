// Package unixsocket opens Unix sockets that nobody can use before their mode and
// group are what they are to be, and says who is at the other end of a connection.
package unixsocket

import (
	"context"
	"io/fs"
	"net"
	"os"
	"slices"
)

// OwnGroup leaves the socket in the group that the system gives it: the process', or
// that of a directory with the set-group-ID bit.
const OwnGroup = -1

// Listen opens a socket for connections at path with this mode and, unless it is
// OwnGroup, this group. The mode does not depend on the umask.
func Listen(path string, mode fs.FileMode, group int) (*net.UnixListener, error) {
	ln, err := bind(path)
	if err != nil {
		return nil, err
	}
	if err := admit(path, mode, group); err != nil {
		_ = ln.Close()
		return nil, err
	}
	return ln, nil
}

// bind opens the socket for its owner alone, where the system can do that.
func bind(path string) (*net.UnixListener, error) {
	lc := net.ListenConfig{Control: private}
	ln, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	return ln.(*net.UnixListener), nil
}

// admit lets others in: the group first, so that no other one ever has the mode.
func admit(path string, mode fs.FileMode, group int) error {
	if group != OwnGroup {
		if err := os.Lchown(path, -1, group); err != nil {
			return err
		}
	}
	return os.Chmod(path, mode)
}

// Peer is the process at the other end of a connection as it was when it connected:
// effective user and group, and supplementary groups.
type Peer struct {
	UID, GID uint32
	Groups   []uint32
}

// In says whether the peer is in a group.
func (p Peer) In(gid uint32) bool { return p.GID == gid || slices.Contains(p.Groups, gid) }
