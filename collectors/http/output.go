package http

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// writeBody writes the body of the last answer to body_output. That may be a pipe or a device;
// writing to it is bounded by patience. It is no symbolic or hard link: in a directory that others
// may write to, a link could name a file that only Vitals may change.
func (c *collector) writeBody() error {
	const patience = 100 * time.Millisecond
	const create = os.O_WRONLY | os.O_CREATE | syscall.O_NONBLOCK | syscall.O_NOCTTY
	path, follow := c.config.BodyOutput, syscall.O_NOFOLLOW
	if slices.Contains([]string{"/dev", "/dev/fd", "/proc/self/fd"}, filepath.Dir(path)) {
		follow = 0 // such as /dev/stdout: the system makes these links
	}
	f, err := os.OpenFile(path, create|follow, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("open %s: it is a symbolic link: expected a file", path)
	}
	if err != nil {
		return err
	}
	if err := empty(f); err != nil {
		return errors.Join(err, f.Close())
	}
	_ = f.SetWriteDeadline(time.Now().Add(patience)) // a file on a disk has none
	body := c.body.Bytes()
	_, err = f.Write(body[:min(len(body), int(c.config.BodySizeLimit))])
	return errors.Join(err, f.Close())
}

// empty removes the content of a regular file that has one name.
func empty(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		return fmt.Errorf("write %s: it has %d names: expected a file with one", f.Name(), stat.Nlink)
	}
	return f.Truncate(0)
}
