//go:build !linux

package unixsocket

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// private leaves the socket to the umask until Listen sets its mode.
func private(_, _ string, _ syscall.RawConn) error { return nil }

// PeerOf says that it cannot say.
func PeerOf(*net.UnixConn) (Peer, error) {
	return Peer{}, fmt.Errorf("ask for the peer's user: %w", errors.ErrUnsupported)
}
