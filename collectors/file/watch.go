package file

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/vitals-health/vitals/internal/files"
)

// Watcher reads a whole file, and reads it again only where it may have changed. A file
// system that hangs holds one goroutine and not the caller. It is not safe for concurrent use.
type Watcher struct{ file collector }

// NewFileWatcher returns a watcher of the file at path, of at most limit bytes. It does no I/O.
func NewFileWatcher(path string, limit int64) *Watcher {
	return &Watcher{collector{config: Config{Path: path}, look: wholeFile(path, limit)}}
}

// Read returns the content, or changed = false and no content where it is that of the call
// before. The error is fs.ErrNotExist where there is no such file.
func (w *Watcher) Read(ctx context.Context) (data []byte, changed bool, err error) {
	seen, err := w.file.ask(ctx)
	if err != nil {
		return nil, false, err
	}
	data, seen.data = seen.data, nil
	w.file.seen = seen
	if err := seen.failure(w.file.config.Path); err != nil {
		return nil, false, err
	}
	return data, !seen.same, nil
}

// ReadFile reads a whole regular file of at most limit bytes. The error is fs.ErrNotExist
// where there is no such file.
func ReadFile(path string, limit int64) ([]byte, error) {
	seen := wholeFile(path, limit).now(fileSeen{})
	return seen.data, seen.failure(path)
}

func wholeFile(path string, limit int64) look {
	return look{path: path, read: true, limit: limit, stat: os.Stat, open: openFileWithoutWaiting}
}

// openFileWithoutWaiting is openWithoutWaiting for look.
func openFileWithoutWaiting(path string) (openFile, error) { return files.Open(path) }

// failure returns why there is no content.
func (s fileSeen) failure(path string) error {
	if s.missing {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return s.err
}
