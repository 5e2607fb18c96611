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

// parsedFile is what a format has made of a content, without what is secret in it.
type parsedFile struct {
	// has says whether the content has a key, whatever the value.
	has func(fileKey) bool
	// number returns the number that the content has at a key; nil unless it is JSON.
	number func(fileKey) (float64, bool)
	// lines are those of a crontab.
	lines crontabLines
}

// parseFormat reads a content.
func parseFormat(format string, data []byte) (p parsedFile, wrong *fileMistake) {
	if format == formatCrontab { // cron(8) knows no characters
		return parsedFile{lines: parseCrontab(data)}, nil
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return p, fileMistakeAt(data, i, "bytes that are not UTF-8: expected a text file")
		}
		i += size
	}
	switch format {
	case formatYAML:
		p.has, wrong = parseYAML(data)
	case formatJSON:
		var root *jsonNode
		if root, wrong = parseJSON(data); wrong == nil {
			p.has, p.number = root.has, root.numberAt
		}
	case formatINI:
		p.has, wrong = parseINI(data)
	default:
		wrong = &fileMistake{text: "no such format"}
	}
	return p, wrong
}

// fileMistakeAt is a mistake at an offset in bytes.
func fileMistakeAt(data []byte, offset int, text string) *fileMistake {
	before := data[:min(max(offset, 0), len(data))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return &fileMistake{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1, text}
}
