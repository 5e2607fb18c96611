package collectors

import "io/fs"

// fileType names the kind of a file, out of a closed set.
func fileType(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "regular"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "other"
}

// fileTypes returns what fileType can.
func fileTypes() []string {
	return []string{"regular", "directory", "socket", "fifo", "device", "other"}
}
