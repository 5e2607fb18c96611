// Package unixsocket opens Unix sockets that are private until their mode and group are
// set, and returns the peer of a connection.
package unixsocket

import (
	"context"
	"io/fs"
	"net"
	"os"
	"slices"

	"github.com/vitals-health/vitals/internal/files"
)

// OwnGroup keeps the socket's default group: that of the process, or that of a directory
// with the set-group-ID bit.
const OwnGroup = -1

// Listen opens a socket for connections at path with this mode and, unless it is
// OwnGroup, this group. The mode does not depend on the umask.
func Listen(path string, mode fs.FileMode, group int) (*net.UnixListener, error) {
	ln, err := bind(path)
	if err != nil {
		return nil, err
	}
	if err := open(path, mode, group); err != nil {
		_ = ln.Close()
		return nil, err
	}
	return ln, nil
}

// bind opens the socket for its owner only, on systems that support this.
func bind(path string) (*net.UnixListener, error) {
	lc := net.ListenConfig{Control: private}
	ln, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	return ln.(*net.UnixListener), nil
}

// open sets group and mode, the group first, so that the mode never applies to another one.
func open(path string, mode fs.FileMode, group int) error {
	if group != OwnGroup {
		if err := os.Lchown(path, -1, group); err != nil {
			return err
		}
	}
	return files.SetSocketMode(path, mode)
}

// Peer is the process at the other end of a connection at the time of connect(2): its
// effective user and group, and its supplementary groups.
type Peer struct {
	UID, GID uint32
	Groups   []uint32
}

// In reports whether the peer is in a group.
func (p Peer) In(gid uint32) bool { return p.GID == gid || slices.Contains(p.Groups, gid) }
