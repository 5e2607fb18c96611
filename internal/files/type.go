package files

import "io/fs"

// Type returns the type of a file, one of Types.
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

// Types returns every result of Type.
func Types() []string {
	return []string{"regular", "directory", "socket", "fifo", "device", "other"}
}
