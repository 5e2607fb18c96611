package collectors

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// fileMistake is why a content is not in its format, and where. It never holds
// anything of the content, which may be secret.
type fileMistake struct {
	line int // counts from 1; 0 where it is not known
	col  int // in characters, counts from 1; 0 where only the line is known
	text string
}

// in is the mistake as one of a file.
func (m *fileMistake) in(path string) string {
	switch {
	case m.line == 0:
		return fmt.Sprintf("%s: %s", path, m.text)
	case m.col == 0:
		return fmt.Sprintf("%s:%d: %s", path, m.line, m.text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", path, m.line, m.col, m.text)
}

// parseFormat reads a content. It returns a function that says whether the content
// has a key, whatever the value.
func parseFormat(format string, data []byte) (has func(fileKey) bool, wrong *fileMistake) {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return nil, fileMistakeAt(data, i, "bytes that are not UTF-8: expected a text file")
		}
		i += size
	}
	switch format {
	case formatYAML:
		return parseYAML(data)
	case formatJSON:
		return parseJSON(data)
	case formatINI:
		return parseINI(data)
	}
	return nil, &fileMistake{text: "no such format"}
}

// fileMistakeAt is a mistake at an offset in bytes.
func fileMistakeAt(data []byte, offset int, text string) *fileMistake {
	before := data[:min(max(offset, 0), len(data))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return &fileMistake{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1, text}
}
