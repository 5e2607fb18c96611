package collectors

import (
	"context"
	"fmt"
	"io/fs"
	"os"
)

// FileWatcher reads a whole file, and reads it again only where it may have changed. A file
// system that hangs holds one goroutine and not the caller. It is not safe for concurrent use.
type FileWatcher struct{ file file }

// NewFileWatcher returns a watcher of the file at path, of at most limit bytes. It does no I/O.
func NewFileWatcher(path string, limit int64) *FileWatcher {
	return &FileWatcher{file{config: FileConfig{Path: path}, look: wholeFile(path, limit)}}
}

// Read returns the content, or changed = false and no content where it is that of the call
// before. The error is fs.ErrNotExist where there is no such file.
func (w *FileWatcher) Read(ctx context.Context) (data []byte, changed bool, err error) {
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

func wholeFile(path string, limit int64) fileLook {
	return fileLook{path: path, read: true, limit: limit, stat: os.Stat, open: openFileWithoutWaiting}
}

// openFileWithoutWaiting is openWithoutWaiting for fileLook.
func openFileWithoutWaiting(path string) (openFile, error) { return openWithoutWaiting(path) }

// failure returns why there is no content.
func (s fileSeen) failure(path string) error {
	if s.missing {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return s.err
}
