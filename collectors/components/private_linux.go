package components

import (
	"errors"
	"syscall"
)

// ownerOnly restricts a socket to its owner before it is bound. Its configured mode is set
// later. On Linux the file of a socket gets the mode of the socket without the umask
// (net/unix/af_unix.c, unix_bind_bsd).
func ownerOnly(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) { failed = syscall.Fchmod(int(fd), 0o600) })
	return errors.Join(err, failed)
}
