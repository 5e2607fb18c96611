package remote

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Only regular files up to the limit are read, also through a symbolic link. Other files are
// errors, without blocking and without partial content.
func TestReadClientFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int{"empty": 0, "largest": maxClientFile, "larger": maxClientFile + 1} {
		if err := os.WriteFile(path(name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("largest", path("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		size int
		err  string
	}{
		"empty": {0, ""}, "largest": {maxClientFile, ""}, "link": {maxClientFile, ""},
		"larger": {0, "it is larger than 1MiB"}, "fifo": {0, "expected a regular file"}, ".": {0, "expected a regular file"}, "none": {0, "no such file"},
	} {
		data, err := ReadClientFile(path(name))
		if len(data) != want.size || (err == nil) != (want.err == "") || err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("ReadClientFile(%s) = %d bytes, %v, want %d and %q", name, len(data), err, want.size, want.err)
		}
	}
}
