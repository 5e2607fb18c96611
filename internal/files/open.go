// Package files opens and writes files without waiting or replacing others, and names their types.
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

// Open opens a file for reading and never blocks: not on a FIFO without a writer, and not on
// a lease (O_NONBLOCK in open(2)).
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// OpenItself is Open for the file at path itself: it returns syscall.ELOOP for a symbolic link
// there. Links in the directories above are followed.
func OpenItself(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_NOFOLLOW, 0)
}
