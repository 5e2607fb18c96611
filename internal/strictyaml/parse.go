package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/text"
)

// maxSize bounds a file. A large configuration has some tens of KiB, and a generated rule
// file some MiB.
const maxSize = 8 << 20

// parse returns the root of the one document in data.
func parse(file string, data []byte) (*yaml.Node, *Error) {
	fail := func(line, col int, text string) (*yaml.Node, *Error) {
		return nil, &Error{File: file, Line: line, Col: col, Text: text}
	}
	if err := checkText(file, data); err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	first, err := document(decoder)
	switch {
	case errors.Is(err, io.EOF), err == nil && isEmpty(first):
		return fail(1, 1, "empty file, expected one YAML document")
	case err != nil:
		return nil, syntaxError(file, data, err)
	}
	second, err := document(decoder)
	switch {
	case err == nil:
		return fail(second.Line, second.Column, "second document, expected exactly one in a file")
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(file, data, err)
	}
	root := first.Content[0]
	if at, problem := oversize(root, len(data)); problem != "" {
		return fail(at.Line, at.Column, problem)
	}
	return root, nil
}

// checkText returns an error unless data is text within maxSize.
func checkText(file string, data []byte) *Error {
	if len(data) > maxSize {
		return &Error{File: file, Line: 1, Col: 1, Text: fmt.Sprintf("file of %d bytes, expected at most %d MiB", len(data), maxSize>>20)}
	}
	if line, col, what := invalidText(data); what != "" {
		return &Error{File: file, Line: line, Col: col, Text: what + ", expected text in UTF-8"}
	}
	return nil
}

// document reads the next document. The YAML parser panics for some malformed comments,
// which is an error here.
func document(d *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	n = new(yaml.Node)
	if err := d.Decode(n); err != nil {
		return nil, err
	}
	return n, nil
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || isNull(doc.Content[0])
}

// invalidText finds the first byte that is invalid in YAML.
func invalidText(data []byte) (line, col int, what string) {
	line, col = 1, 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size <= 1:
			return line, col, fmt.Sprintf("invalid byte 0x%02x", data[0])
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			return line, col, fmt.Sprintf("control character 0x%02x", r)
		case r == '\n':
			line, col = line+1, 0
		}
		data, col = data[size:], col+1
	}
	return 0, 0, ""
}

// syntaxError converts an error of the YAML library. That has a line only, which for an error
// within a block is the block's first line.
func syntaxError(file string, data []byte, err error) *Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: file, Line: 1, Col: 1}
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			e.Line, message = n, after
			if countsFromZero(message) {
				e.Line++
			}
		}
	}
	e.Text = "not valid YAML: " + text.Clip(message, 200) + templateHint(data, e.Line)
	if strings.HasPrefix(message, "did not find expected ',' or") && strings.Contains(lineOf(data, e.Line), "${") {
		e.Text += ": within { } and [ ], a value with ${ needs quotes"
	}
	if strings.Contains(message, "cannot start any token") || strings.Contains(message, "tab character") {
		if line, col := indentingTab(data, e.Line); line > 0 {
			e.Line, e.Col, e.Text = line, col, "tab in the indentation, expected spaces"
		}
	}
	return e
}

// lineOf returns the line of a number, from 1, or "".
func lineOf(data []byte, number int) string {
	for line := range strings.Lines(string(data)) {
		if number--; number == 0 {
			return line
		}
	}
	return ""
}

// countsFromZero reports whether the YAML library counts lines from zero in this message. It
// does in those of its parser, not in those of its scanner.
func countsFromZero(problem string) bool {
	rest, ok := strings.CutPrefix(problem, "did not find expected ")
	if !ok {
		return false
	}
	for _, what := range [...]string{"key", "'-' indicator", "',' or", "node content", "<document start>"} {
		if strings.HasPrefix(rest, what) {
			return true
		}
	}
	return false
}

// indentingTab finds the tab that indents the line, or one next to it.
func indentingTab(data []byte, near int) (line, col int) {
	for i, text := range strings.Split(string(data), "\n") {
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && i+1 >= near-1 && i+1 <= near+1 {
			return i + 1, tab + 1
		}
	}
	return 0, 0
}
