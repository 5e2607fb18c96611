package unixsocket

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// private makes the file of a socket that is not bound yet its owner's alone. Linux
// gives the file the mode of the socket, less the umask (net/unix/af_unix.c,
// unix_bind_bsd).
func private(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(err, failed)
}

// PeerOf asks the kernel who connected (SO_PEERCRED and SO_PEERGROUPS, unix(7)): that
// cannot be forged, and stays what it was. Users and groups from outside the process'
// user namespace show as the overflow ids, mostly 65534.
func PeerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var p Peer
	var failed error
	err = raw.Control(func(fd uintptr) { p, failed = peerOf(int(fd)) })
	return p, errors.Join(err, failed)
}

func peerOf(fd int) (Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, fmt.Errorf("ask for the peer's user: %w", err)
	}
	groups, err := peerGroups(fd)
	if err != nil {
		return Peer{}, fmt.Errorf("ask for the peer's groups: %w", err)
	}
	return Peer{UID: cred.Uid, GID: cred.Gid, Groups: groups}, nil
}

// peerGroups are the supplementary groups. Kernels before 4.13 do not say them.
func peerGroups(fd int) ([]uint32, error) {
	groups := make([]uint32, 32)
	for {
		size := uint32(len(groups)) * 4
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errno == 0:
			return groups[:size/4], nil
		case errno == unix.ENOPROTOOPT:
			return nil, nil
		case errno == unix.ERANGE && size/4 > uint32(len(groups)): // size is now what they need
			groups = make([]uint32, size/4)
		default:
			return nil, errno
		}
	}
}
