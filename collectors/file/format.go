package file

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Mistake is why a content is not in its format, and where. It never holds
// anything of the content, which may be secret.
type Mistake struct {
	Line int // counts from 1; 0 where it is not known
	col  int // in characters, counts from 1; 0 where only the line is known
	Text string
}

// In is the mistake as one of a file.
func (m *Mistake) In(path string) string {
	switch {
	case m.Line == 0:
		return fmt.Sprintf("%s: %s", path, m.Text)
	case m.col == 0:
		return fmt.Sprintf("%s:%d: %s", path, m.Line, m.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", path, m.Line, m.col, m.Text)
}

// parsedFile is what a format has made of a content, without what is secret in it.
type parsedFile struct {
	// has says whether the content has a key, whatever the value.
	Has func(Key) bool
	// number returns the number that the content has at a key; nil unless it is JSON.
	number func(Key) (float64, bool)
	// lines are those of a crontab.
	lines crontabLines
}

// ParseFormat reads a content.
func ParseFormat(format string, data []byte) (p parsedFile, wrong *Mistake) {
	if format == formatCrontab { // cron(8) knows no characters
		return parsedFile{lines: parseCrontab(data)}, nil
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return p, mistakeAt(data, i, "bytes that are not UTF-8: expected a text file")
		}
		i += size
	}
	switch format {
	case formatYAML:
		p.Has, wrong = parseYAML(data)
	case FormatJSON:
		var root *jsonNode
		if root, wrong = parseJSON(data); wrong == nil {
			p.Has, p.number = root.has, root.numberAt
		}
	case formatINI:
		p.Has, wrong = parseINI(data)
	default:
		wrong = &Mistake{Text: "no such format"}
	}
	return p, wrong
}

// mistakeAt is a mistake at an offset in bytes.
func mistakeAt(data []byte, offset int, text string) *Mistake {
	before := data[:min(max(offset, 0), len(data))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return &Mistake{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1, text}
}
