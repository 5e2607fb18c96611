package components

import (
	"errors"
	"syscall"
)

// ownersAlone makes a socket that is not bound yet its owner's alone, so that nobody
// can use it before it has its mode. Linux gives the file of a socket the mode of the
// socket, less the umask (net/unix/af_unix.c, unix_bind_bsd).
func ownersAlone(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) { failed = syscall.Fchmod(int(fd), 0o600) })
	return errors.Join(err, failed)
}
