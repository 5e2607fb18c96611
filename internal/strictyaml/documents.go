package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// Documents returns the roots of all documents of somebody else's file that are not
// empty, within the bounds that hold for a file of ours: its size, its text, how deep it
// is nested, and what its aliases make of it.
func Documents(file string, data []byte) ([]*yaml.Node, *Error) {
	fail := func(line, col int, format string, args ...any) *Error {
		return &Error{File: file, Line: line, Col: col, Text: fmt.Sprintf(format, args...)}
	}
	if len(data) > maxSize {
		return nil, fail(1, 1, "file of %d bytes, expected at most 1 MiB", len(data))
	}
	if line, col, what := invalidText(data); what != "" {
		return nil, fail(line, col, "%s, expected text in UTF-8", what)
	}
	var roots []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		n, err := document(decoder)
		switch {
		case errors.Is(err, io.EOF):
			return roots, nil
		case err != nil:
			return roots, syntaxError(file, data, err)
		case isEmpty(n):
			continue
		}
		if at, problem := oversize(n.Content[0]); problem != "" {
			return roots, fail(at.Line, at.Column, "%s", problem)
		}
		roots = append(roots, n.Content[0])
	}
}
