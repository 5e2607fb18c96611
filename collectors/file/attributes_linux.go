package file

import (
	"io/fs"
	"syscall"
	"time"
)

// owner returns the numbers of the user and of the group that own a file.
func owner(info fs.FileInfo) (uid, gid uint32, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return stat.Uid, stat.Gid, true
}

// changed returns when a file's content or attributes last changed: ctime in inode(7),
// which programs cannot set.
func changed(info fs.FileInfo) (time.Time, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(stat.Ctim.Unix()), true
}
