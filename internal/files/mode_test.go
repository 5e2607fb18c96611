package files_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/internal/files"
)

// shortDir returns a directory; the path of t.TempDir is too long for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestSetSocketMode(t *testing.T) {
	dir := shortDir(t)
	socket, file, link := filepath.Join(dir, "s"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	for _, want := range []fs.FileMode{0o600, 0o660, 0o666} {
		if err := files.SetSocketMode(socket, want); err != nil || mode(socket) != want {
			t.Errorf("SetSocketMode(%o) = %v and sets %o", want, err, mode(socket))
		}
	}
	before := mode(socket)
	for _, target := range []string{file, socket} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if err := files.SetSocketMode(link, 0o777); err == nil || mode(target) == 0o777 {
			t.Errorf("SetSocketMode() of a link to %s = %v, and it has the mode %o, want an error and no change", target, err, mode(target))
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.SetSocketMode(file, 0o666); err == nil || mode(file) != 0o600 {
		t.Errorf("SetSocketMode() of a file = %v, and it has the mode %o, want an error and no change", err, mode(file))
	}
	if err := files.SetSocketMode(filepath.Join(dir, "none"), 0o666); !files.Missing(err) {
		t.Errorf("SetSocketMode() of no file = %v, want that it is missing", err)
	}
	if got := mode(socket); got != before {
		t.Errorf("the socket has the mode %o, want %o as before", got, before)
	}
}
