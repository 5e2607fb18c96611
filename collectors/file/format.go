package file

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Mistake is why a content is not valid in its format, and where. It contains nothing of the
// content, which may be secret.
type Mistake struct {
	// Line counts from 1; 0 if it is unknown.
	Line int
	col  int // in characters, counts from 1; 0 if only the line is known
	// Text describes the mistake.
	Text string
}

// In returns the mistake with the place in the file at path.
func (m *Mistake) In(path string) string {
	switch {
	case m.Line == 0:
		return fmt.Sprintf("%s: %s", path, m.Text)
	case m.col == 0:
		return fmt.Sprintf("%s:%d: %s", path, m.Line, m.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", path, m.Line, m.col, m.Text)
}

// parsed is a parsed content without its values, which may be secret.
type parsed struct {
	// has reports whether the content has a key, with any value.
	has func(Key) bool
	// number returns the number at a key; nil unless the format is JSON.
	number func(Key) (float64, bool)
	// lines are those of a crontab.
	lines crontabLines
}

// memoryFactor returns how many bytes a content takes at most for each of its bytes while it is
// parsed, as TestMemoryFactors measures: nodes of short values are much larger than their text.
func memoryFactor(format string) int64 {
	switch format {
	case formatYAML:
		return 96
	case formatJSON:
		return 56
	case formatINI:
		return 18
	}
	return 4
}

// parseFormat parses a content.
func parseFormat(format string, data []byte) (p parsed, wrong *Mistake) {
	if format == formatCrontab { // cron(8) reads bytes, not characters
		return parsed{lines: parseCrontab(data)}, nil
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
		p.has, wrong = parseYAML(data)
	case formatJSON:
		var root *jsonNode
		if root, wrong = parseJSON(data); wrong == nil {
			p.has, p.number = root.has, root.numberAt
		}
	case formatINI:
		p.has, wrong = parseINI(data)
	default:
		wrong = &Mistake{Text: "no such format"}
	}
	return p, wrong
}

// mistakeAt returns a mistake at an offset in bytes.
func mistakeAt(data []byte, offset int, text string) *Mistake {
	before := data[:min(max(offset, 0), len(data))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return &Mistake{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1, text}
}
