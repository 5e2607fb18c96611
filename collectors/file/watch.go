package file

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/vitals-health/vitals/internal/files"
)

// Watcher reads a whole file, and reads it again only after a change. A file system that hangs
// blocks one goroutine and not the caller. A Watcher is not safe for concurrent use.
type Watcher struct{ file collector }

// NewWatcher returns a watcher of the file at path, of at most limit bytes. It does no I/O.
func NewWatcher(path string, limit int64) *Watcher {
	return &Watcher{collector{config: Config{Path: path}, reader: wholeFile(path, limit)}}
}

// Read returns the content, or changed = false and no content if it is that of the previous
// call. The error is fs.ErrNotExist if there is no such file.
func (w *Watcher) Read(ctx context.Context) (data []byte, changed bool, err error) {
	seen, err := w.file.snapshot(ctx)
	if err != nil {
		return nil, false, err
	}
	data, seen.data = seen.data, nil
	w.file.last = seen
	if err := seen.failure(w.file.config.Path); err != nil {
		return nil, false, err
	}
	return data, !seen.unchanged, nil
}

// Read reads a whole regular file of at most limit bytes. The error is fs.ErrNotExist if
// there is no such file.
func Read(path string, limit int64) ([]byte, error) {
	seen := wholeFile(path, limit).snapshot(context.Background(), snapshot{})
	return seen.data, seen.failure(path)
}

func wholeFile(path string, limit int64) reader {
	return reader{path: path, content: true, limit: limit, stat: os.Stat, open: open}
}

// open is files.Open for reader.
func open(path string) (openFile, error) { return files.Open(path) }

// failure returns why there is no content.
func (s snapshot) failure(path string) error {
	if s.missing {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return s.err
}
