package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteNew writes a file that does not exist yet, and makes its directory. Only its owner may read
// a secret. The error is fs.ErrExist for a file that exists.
func WriteNew(path, text string, secret bool) error {
	folder, mode := fs.FileMode(0o755), fs.FileMode(0o644)
	if secret {
		folder, mode = 0o700, 0o600
	}
	if err := os.MkdirAll(filepath.Dir(path), folder); err != nil {
		return errors.New(err.Error()) // never fs.ErrExist, which is about the file
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Overwrite replaces the text of a regular file, which must exist. It follows no link and does not
// wait.
func Overwrite(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	return errors.Join(err, f.Close())
}
