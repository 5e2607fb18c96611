package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/internal/files"
)

func TestWriteNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "file")
	if err := files.WriteNew(path, "first", true); err != nil {
		t.Fatal(err)
	}
	if err := files.WriteNew(path, "second", true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("WriteNew() of a file that exists = %v, want fs.ErrExist", err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "first" {
		t.Errorf("the file = %q, %v, want what was written first", text, err)
	}
	for at, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
			t.Errorf("Stat(%s) = %v, %v, want a secret's mode %v", at, info, err, want)
		}
	}
	if err := files.WriteNew(filepath.Join(path, "below"), "", false); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("WriteNew() below a file = %v, want an error other than fs.ErrExist", err)
	}
}

func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	path, link, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := errors.Join(files.WriteNew(path, "a longer text", false), os.Symlink(path, link), syscall.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := files.Overwrite(path, "text"); err != nil {
		t.Errorf("Overwrite() = %v, want no error", err)
	}
	for at, want := range map[string]string{filepath.Join(dir, "missing"): "no such file", link: "symbolic links", fifo: "no such device", dir: "is a directory"} {
		if err := files.Overwrite(at, "other"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Overwrite(%s) = %v, want an error with %q", filepath.Base(at), err, want)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
		t.Errorf("the file = %q, %v, want %q", text, err, "text")
	}
}
