package file

import "bytes"

// crontabLines counts the lines of a crontab.
type crontabLines struct {
	// active is the number of those that run a command.
	active int
	// uncommented is the number of those that do not begin with #, with empty ones and
	// assignments.
	uncommented int
}

// parseCrontab counts the lines of a user's table, see crontab(5): blank lines, comments
// and assignments of environment variables run nothing. The others are not parsed further.
func parseCrontab(data []byte) crontabLines {
	var c crontabLines
	for line := range bytes.Lines(data) {
		if line[0] != '#' {
			c.uncommented++
		}
		line = bytes.Trim(line, " \t\r\n")
		if len(line) > 0 && line[0] != '#' && !isCrontabAssignment(line) {
			c.active++
		}
	}
	return c
}

// isCrontabAssignment reports whether a line is name = value. The name may be quoted, and
// spaces may surround the equals sign.
func isCrontabAssignment(line []byte) bool {
	end := bytes.IndexAny(line, " \t=")
	if quote := line[0]; quote == '"' || quote == '\'' {
		end = bytes.IndexByte(line[1:], quote) + 2
		if end < 2 {
			return false
		}
	}
	return end > 0 && bytes.HasPrefix(bytes.TrimLeft(line[end:], " \t"), []byte("="))
}
