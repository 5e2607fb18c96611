package unixsocket

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// place returns a path for a socket; that of t.TempDir() is too long.
func place(t *testing.T) string {
	t.Helper()
	dir := collectortest.Dir(t)
	return filepath.Join(dir, "s")
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// With any umask, the mode is 0600 until the configured one is set.
func TestListen(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		old := syscall.Umask(umask)
		path := place(t)
		ln, err := bind(path)
		if err != nil {
			t.Fatalf("bind() = %v, want no error", err)
		}
		if mode := modeOf(t, path); mode != 0o600 {
			t.Errorf("mode after bind() with umask %o = %o, want 600", umask, mode)
		}
		_ = ln.Close()
		for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
			ln, err := Listen(path, mode, os.Getgid())
			if err != nil {
				t.Fatalf("Listen() = %v, want no error", err)
			}
			if got := modeOf(t, path); got != mode {
				t.Errorf("mode after Listen() with umask %o = %o, want %o", umask, got, mode)
			}
			_ = ln.Close()
		}
		syscall.Umask(old)
	}
}

// A failed Listen leaves no socket behind.
func TestListenFails(t *testing.T) {
	path := place(t)
	abstract := "@" + path // has no file and so no mode
	if ln, err := Listen(abstract, 0o660, OwnGroup); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Listen() in the abstract namespace = %v, %v, want not exist", ln, err)
	}
	if _, err := net.Dial("unix", abstract); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial() after Listen() failed = %v, want %v", err, syscall.ECONNREFUSED)
	}
	if _, err := Listen(filepath.Join(path, "nowhere"), 0o660, OwnGroup); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Listen() in a directory that does not exist = %v, want not exist", err)
	}
}

func TestPeerOf(t *testing.T) {
	path := place(t)
	ln, err := Listen(path, 0o600, OwnGroup)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := ln.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	peer, err := PeerOf(conn)
	groups, failed := os.Getgroups()
	if err != nil || failed != nil || int(peer.UID) != os.Geteuid() || int(peer.GID) != os.Getegid() || len(peer.Groups) != len(groups) {
		t.Errorf("PeerOf() = %+v, %v, want this process: %d, %d, %v, %v", peer, err, os.Geteuid(), os.Getegid(), groups, failed)
	}
	for _, g := range groups {
		if !peer.In(uint32(g)) {
			t.Errorf("In(%d) = false, want true", g)
		}
	}
	other := uint32(1 << 30)
	if !peer.In(peer.GID) || peer.In(other) || slices.Contains(peer.Groups, other) {
		t.Errorf("In() = %t for the peer's group and %t for another, want true and false", peer.In(peer.GID), peer.In(other))
	}
	// The peer is available after it has disconnected.
	_ = client.Close()
	if again, err := PeerOf(conn); err != nil || again.UID != peer.UID {
		t.Errorf("PeerOf() of a disconnected client = %+v, %v, want as before", again, err)
	}
	_ = conn.Close()
	if _, err := PeerOf(conn); !errors.Is(err, net.ErrClosed) {
		t.Errorf("PeerOf() of a closed connection = %v, want %v", err, net.ErrClosed)
	}
}
