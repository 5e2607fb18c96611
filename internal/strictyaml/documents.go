package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"math"

	"gopkg.in/yaml.v3"
)

// Documents returns the roots of all documents that are not empty, of a file of another
// program. The bounds are those of Decode. An unrendered template is an error.
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

// Part is a document of a file, or an element of a list in it, before decoding.
type Part struct {
	file string
	data []byte
	root *yaml.Node
	// starts is that of Document, for all parts of the file.
	starts func() []int
	// Number is the number of the document in its file, from 1 and with empty documents.
	Number int
	// First and Last are the lines of the part with its comments, from 1. Last is
	// math.MaxInt for the last part of a file.
	First, Last int
}

// Parts returns the documents of a file that are not empty, within the bounds of Decode.
// With an error it returns the documents before the error.
func Parts(file string, data []byte) ([]Part, *Error) {
	if err := checkText(file, data); err != nil {
		return nil, err
	}
	data = bytes.Clone(data)
	starts := lineStarts(data)
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
		if at, problem := oversize(n.Content[0], len(data)); problem != "" {
			return parts, &Error{File: file, Line: at.Line, Col: at.Column, Text: problem}
		}
		first := n.Line
		if len(parts) == 0 {
			first = 1
		}
		parts = append(parts, Part{file: file, data: data, root: n.Content[0], starts: starts, Number: number, First: first, Last: math.MaxInt})
	}
}

// Decode decodes the part like the function Decode. Positions are those in the file.
func (p *Part) Decode(into any) (*Document, []*Error) {
	return decode(&Document{file: p.file, data: p.data, starts: p.starts, root: p.root}, into)
}

// Text returns the scalar at a key of the part, or "".
func (p *Part) Text(key string) string {
	if n := p.at(key); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// Items returns the elements of the list at a key of the part. Lines above the first
// element belong to it, and lines below the last element to that one.
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

// at returns the node at a key of the part, or nil.
func (p *Part) at(key string) *yaml.Node {
	if root := deref(p.root); root.Kind == yaml.MappingNode {
		if e, ok := lookup(root, key); ok {
			return deref(e.value)
		}
	}
	return nil
}
