package collectors

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// syntaxError is why a content is not in its format, and where. It never holds
// anything of the content, which may be secret.
type syntaxError struct {
	line int // counts from 1
	col  int // in characters, counts from 1; 0 where only the line is known
	text string
}

func (e *syntaxError) Error() string {
	if e.col == 0 {
		return fmt.Sprintf("%d: %s", e.line, e.text)
	}
	return fmt.Sprintf("%d:%d: %s", e.line, e.col, e.text)
}

// parseFormat reads a content. It returns a function that says whether the content
// has a key, whatever the value.
func parseFormat(format string, data []byte) (has func(fileKey) bool, err error) {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return nil, syntaxAt(data, i, "bytes that are not UTF-8: expected a text file")
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
	return nil, fmt.Errorf(" no format %s", strconv.Quote(format))
}

// syntaxAt is an error at an offset in bytes.
func syntaxAt(data []byte, offset int, text string) *syntaxError {
	before := data[:min(max(offset, 0), len(data))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return &syntaxError{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1, text}
}
