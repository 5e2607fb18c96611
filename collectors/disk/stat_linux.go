package disk

import "golang.org/x/sys/unix"

// stat returns the state of the file system of a path, by statfs(2). It may block for ever.
func stat(path string) result {
	var s unix.Statfs_t
	for {
		if err := unix.Statfs(path, &s); err != unix.EINTR {
			return result{usageOf(&s), err}
		}
	}
}

// usageOf converts blocks to bytes. The unit of the block counts is f_frsize, as statvfs(3)
// documents; f_bsize is the preferred size of a transfer.
func usageOf(s *unix.Statfs_t) usage {
	unit := uint64(s.Frsize)
	if unit == 0 {
		unit = uint64(s.Bsize)
	}
	return usage{
		size: s.Blocks * unit, free: s.Bfree * unit, available: s.Bavail * unit,
		inodes: s.Files, inodesFree: s.Ffree,
		writable: s.Flags&unix.ST_RDONLY == 0,
	}
}
