//go:build !linux

package files

import (
	"fmt"
	"io/fs"
	"os"
)

// SetSocketMode sets the permission bits of a socket's file. It returns an error for any other
// file, unless it is replaced during the call.
func SetSocketMode(path string, mode fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("chmod %s: it was replaced: expected the socket that was created", path)
	}
	return os.Chmod(path, mode.Perm())
}
