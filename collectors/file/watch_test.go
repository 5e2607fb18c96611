package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestWatcher(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	w := NewWatcher(path, 10)
	if _, _, err := w.Read(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read() = %v, want fs.ErrNotExist", err)
	}
	if _, err := Read(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read() = %v, want fs.ErrNotExist", err)
	}
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, changed, err := w.Read(t.Context()); string(data) != "content" || !changed || err != nil {
		t.Errorf("Read() = %q, %v, %v, want the content", data, changed, err)
	}
	w.file.last.settled = true // as if it had been written long ago
	if data, changed, err := w.Read(t.Context()); data != nil || changed || err != nil {
		t.Errorf("Read() = %q, %v, %v, want no change", data, changed, err)
	}
	if err := os.WriteFile(path, []byte("eleven bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, _, err := w.Read(t.Context()); err == nil {
		t.Errorf("Read() = %q, want an error: it is larger than the limit", data)
	}
}
