package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"gopkg.in/yaml.v3"
)

// Documents returns the roots of all documents of somebody else's file that are not
// empty, within the bounds that hold for a file of ours: its size, its text, how deep it
// is nested, and what its aliases make of it. A template of such a file is none.
func Documents(file string, data []byte) ([]*yaml.Node, *Error) {
	var roots []*yaml.Node
	parts, err := Parts(file, data)
	for _, p := range parts {
		if at := unrenderedPlace(p.root); at != nil {
			return roots, &Error{File: file, Line: at.Line, Col: at.Column, Text: describeTemplate(at)}
		}
		roots = append(roots, p.root)
	}
	return roots, err
}

// Part is one document of a file, or an element of a list in it, that Decode has not
// seen yet.
type Part struct {
	file string
	data []byte
	root *yaml.Node
	// Number is that of the document in its file. It counts from 1, and empty documents
	// count.
	Number int
	// First and Last are the lines between which the part stands, comments included. They
	// count from 1, and the end of the file is open.
	First, Last int
}

// Parts returns the documents of a file that are not empty, within the bounds of Decode.
// With an error they are those before it.
func Parts(file string, data []byte) ([]Part, *Error) {
	fail := func(line, col int, format string, args ...any) *Error {
		return &Error{File: file, Line: line, Col: col, Text: fmt.Sprintf(format, args...)}
	}
	if len(data) > maxSize {
		return nil, fail(1, 1, "file of %d bytes, expected at most 1 MiB", len(data))
	}
	if line, col, what := invalidText(data); what != "" {
		return nil, fail(line, col, "%s, expected text in UTF-8", what)
	}
	data = bytes.Clone(data)
	var parts []Part
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for number := 1; ; number++ {
		n, err := document(decoder)
		if err == nil && len(parts) > 0 && parts[len(parts)-1].Last == math.MaxInt {
			parts[len(parts)-1].Last = n.Line - 1
		}
		switch {
		case errors.Is(err, io.EOF):
			return parts, nil
		case err != nil:
			return parts, syntaxError(file, data, err)
		case isEmpty(n):
			continue
		}
		if at, problem := oversize(n.Content[0]); problem != "" {
			return parts, fail(at.Line, at.Column, "%s", problem)
		}
		first := n.Line
		if len(parts) == 0 {
			first = 1
		}
		parts = append(parts, Part{file: file, data: data, root: n.Content[0], Number: number, First: first, Last: math.MaxInt})
	}
}

// Decode decodes the part as the function does a file. Places are those in the file.
func (p *Part) Decode(into any) (*Document, []*Error) {
	return decode(&Document{file: p.file, data: p.data, root: p.root}, into)
}

// Text returns the scalar at a key of the part, or "".
func (p *Part) Text(key string) string {
	if n := p.at(key); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// Items returns the elements of the list at a key of the part. What stands above the first
// one is the first one's, and what stands below the last one the last one's.
func (p *Part) Items(key string) []Part {
	list := p.at(key)
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	items := make([]Part, len(list.Content))
	for i, n := range list.Content {
		items[i] = *p
		items[i].root = n
		if i > 0 {
			items[i].First = n.Line
			items[i-1].Last = n.Line - 1
		}
	}
	return items
}

// at returns what is at a key of the part, or nil.
func (p *Part) at(key string) *yaml.Node {
	if root := deref(p.root); root.Kind == yaml.MappingNode {
		if e, ok := lookup(root, key); ok {
			return deref(e.value)
		}
	}
	return nil
}
