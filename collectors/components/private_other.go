//go:build !linux

package components

import "syscall"

// ownerOnly does nothing: the umask applies until the configured mode is set.
func ownerOnly(_, _ string, _ syscall.RawConn) error { return nil }
