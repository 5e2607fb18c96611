package components

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A socket for notifications is its owner's alone until it has its mode.
func TestNotifySocketIsPrivateAtFirst(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir, err := os.MkdirTemp("", "np") // t.TempDir() is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	mode := func(path string) os.FileMode {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	path := filepath.Join(dir, "bound")
	lc := net.ListenConfig{Control: ownerOnly}
	conn, err := lc.ListenPacket(context.Background(), "unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := mode(path); got != 0o600 {
		t.Errorf("mode once it is bound = %o, want 600", got)
	}
	s := &notifySocket{path: filepath.Join(dir, "open")}
	if err := s.open(0o620); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if got := mode(s.path); got != 0o620 {
		t.Errorf("mode once it is open = %o, want 620", got)
	}
}
