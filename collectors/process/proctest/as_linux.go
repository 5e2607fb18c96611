package proctest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// AsOther runs a function with the rights of another user.
func AsOther(t *testing.T, do func()) {
	t.Helper()
	failed := make(chan error)
	go func() {
		// The thread ends with the goroutine, because it stays locked to it.
		runtime.LockOSThread()
		const other = 65534
		if os.Geteuid() == 0 {
			if err := unix.Setfsuid(other); err != nil {
				failed <- err
				return
			}
		}
		do()
		failed <- nil
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

// OpenAll makes a directory and everything below it readable for all users.
func OpenAll(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		return os.Chmod(path, 0o755)
	})
	if err == nil {
		err = os.Chmod(filepath.Dir(dir), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// CloseFile removes all permissions of a file until the test ends.
func CloseFile(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
}
