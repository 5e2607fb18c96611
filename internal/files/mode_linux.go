package files

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// SetSocketMode sets the permission bits of a socket's file. It returns an error for any other
// file, also for a symbolic link and for a file of another user: in a directory that others may
// write to, the socket may have been replaced after it was bound.
func SetSocketMode(path string, mode fs.FileMode) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFSOCK || int(stat.Uid) != unix.Geteuid() {
		return fmt.Errorf("chmod %s: it was replaced: expected the socket that was created", path)
	}
	// The descriptor identifies the file, whatever the path means by now. fchmod(2) does not
	// accept it, and fchmodat2(2) needs Linux 6.6.
	if err := unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), uint32(mode.Perm())); err != nil {
		return &fs.PathError{Op: "chmod", Path: path, Err: err}
	}
	return nil
}
