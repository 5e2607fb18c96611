// Package files opens files without waiting, and names their types.
package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Missing reports whether an error means that there is no such file.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Open opens a file to read it. It never waits, as for the writer of a FIFO or the holder of
// a lease (O_NONBLOCK in open(2)).
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}
