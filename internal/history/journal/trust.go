package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// The permission bits of the group and of all users to write.
const groupWrites, othersWrite = 0o020, 0o002

// maxRefused bounds how many files are named in the log: a later start names the others.
const maxRefused = 10

// untrusted is the error of a file that another user may have written.
type untrusted string

func (u untrusted) Error() string { return string(u) }

// checkDir returns an error if the directory belongs to neither the user nor root, whose
// volumes in a pod are open to all.
func (s *store) checkDir() error {
	info, err := os.Stat(s.options.Dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	s.open = info.Mode()&(othersWrite|fs.ModeSticky) == othersWrite
	s.group = -1
	if ok && info.Mode()&groupWrites != 0 {
		s.group = int(stat.Gid)
	}
	if ok && !s.owns(int(stat.Uid)) {
		return fmt.Errorf("the directory belongs to user %d: expected %d or root", stat.Uid, s.user)
	}
	return nil
}

func (s *store) owns(owner int) bool { return owner == 0 || owner == s.user }

// file opens a regular file in the directory that no other user may write. It follows no link
// and does not wait.
func (s *store) file(name string, flags int) (*os.File, error) {
	path := filepath.Join(s.options.Dir, name)
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if refused(err) {
		return nil, fmt.Errorf("%w: expected a regular file of user %d with mode 0600, in a directory that the user may write to: chown, chmod or remove it", err, s.user)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		owner, group := s.user, -1
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			owner, group = int(stat.Uid), int(stat.Gid)
		}
		err = s.check(path, info.Mode(), owner, group)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// check returns an error for a file that another user may have written. A group that may write to
// the directory is trusted: a kubelet gives a volume with fsGroup these permissions.
func (s *store) check(path string, mode fs.FileMode, owner, group int) error {
	switch {
	case !mode.IsRegular():
		return untrusted(path + " is no regular file: remove it")
	case !s.owns(owner):
		return untrusted(fmt.Sprintf("%s belongs to user %d: expected %d or root: chown %d %[1]s", path, owner, s.user, s.user))
	case mode&othersWrite != 0, mode&groupWrites != 0 && group != s.group:
		return untrusted(fmt.Sprintf("%s has the mode %04o, so other users may write to it: chmod 600 %[1]s", path, mode.Perm()))
	}
	return nil
}

// refused reports whether an error of file is due to the file, and not to the disk.
func refused(err error) bool {
	return errors.As(err, new(untrusted)) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EISDIR)
}

// refuse records why a file is not read.
func (s *store) refuse(err error) {
	if len(s.refused) < maxRefused {
		s.refused = append(s.refused, err)
	}
}
