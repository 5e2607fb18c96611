package files

import "io/fs"

// Type names the kind of a file, out of a closed set.
func Type(mode fs.FileMode) string {
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

// Types returns what Type can.
func Types() []string {
	return []string{"regular", "directory", "socket", "fifo", "device", "other"}
}
