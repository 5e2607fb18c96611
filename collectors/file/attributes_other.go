//go:build !linux

package file

import (
	"io/fs"
	"time"
)

// owner is only implemented on Linux.
func owner(fs.FileInfo) (uid, gid uint32, ok bool) { return 0, 0, false }

// changed is only implemented on Linux. Elsewhere a file is read in every collection.
func changed(fs.FileInfo) (time.Time, bool) { return time.Time{}, false }
