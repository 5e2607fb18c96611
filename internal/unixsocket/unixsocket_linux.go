package unixsocket

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// private sets the mode of a socket's file to 0600 before it is bound. Linux gives the
// file the mode of the socket without the umask's bits (net/unix/af_unix.c,
// unix_bind_bsd).
func private(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(err, failed)
}

// PeerOf returns the kernel's record of the peer (SO_PEERCRED and SO_PEERGROUPS, unix(7)),
// which cannot be forged. Users and groups from outside the process' user namespace are
// the overflow IDs, mostly 65534.
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
		return Peer{}, fmt.Errorf("get the peer's user: %w", err)
	}
	groups, err := peerGroups(fd)
	if err != nil {
		return Peer{}, fmt.Errorf("get the peer's groups: %w", err)
	}
	return Peer{UID: cred.Uid, GID: cred.Gid, Groups: groups}, nil
}

// peerGroups returns the supplementary groups, and none on kernels before 4.13.
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
		case errno == unix.ERANGE && size/4 > uint32(len(groups)): // size is the required size
			groups = make([]uint32, size/4)
		default:
			return nil, errno
		}
	}
}
