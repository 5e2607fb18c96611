//go:build !linux

package unixsocket

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// private does nothing: the umask applies until Listen sets the mode.
func private(_, _ string, _ syscall.RawConn) error { return nil }

// PeerOf returns errors.ErrUnsupported.
func PeerOf(*net.UnixConn) (Peer, error) {
	return Peer{}, fmt.Errorf("get the peer's user: %w", errors.ErrUnsupported)
}
