package strictyaml

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// Document is a file that Decode has read, with the positions of its nodes. For a file that
// is not YAML, all positions are its beginning. It is immutable and safe for concurrent
// use.
type Document struct {
	file string
	data []byte
	// starts returns the offsets of the lines in data.
	starts func() []int
	// root is nil if the file is not YAML, or too large with its aliases expanded.
	root *yaml.Node
	// broken are the paths at which Decode found a mistake.
	broken []string
}

// File returns the name that Decode got.
func (d *Document) File() string { return d.file }

// Data returns the file's content; it must not be changed.
func (d *Document) Data() []byte { return d.data }

// Position returns the position of a path such as "collectors[2].keystone.auth_url": that of
// a scalar's value or of a block's key. If the path does not exist, it is the position of
// the nearest ancestor that does.
func (d *Document) Position(path string) (line, col int) {
	at, _, _ := d.find(path)
	return place(at)
}

// KeyPosition returns the position of the last key of a path. If there is no such key, it is
// that of Position.
func (d *Document) KeyPosition(path string) (line, col int) {
	all := steps(path)
	if last := len(all) - 1; last >= 0 && all[last].index < 0 {
		_, parent, found := d.walk(all[:last])
		if found && parent.Kind == yaml.MappingNode {
			if e, ok := lookup(parent, all[last].key); ok {
				return place(e.key)
			}
		}
	}
	return d.Position(path)
}

// Has reports whether the document has a value at path, which may be empty.
func (d *Document) Has(path string) bool {
	_, _, ok := d.find(path)
	return ok
}

// Scalar returns the text of the scalar at path as it is in the file, without expansion. It returns
// false if there is none.
func (d *Document) Scalar(path string) (string, bool) {
	_, n, ok := d.find(path)
	if !ok || n.Kind != yaml.ScalarNode {
		return "", false
	}
	return n.Value, true
}

// Errorf returns an error with path and its position.
func (d *Document) Errorf(path, format string, args ...any) *Error {
	line, col := d.Position(path)
	return &Error{File: d.file, Line: line, Col: col, Where: path, Text: fmt.Sprintf(format, args...)}
}

// ErrorAt is like Errorf for a mistake inside a scalar, at an offset in the scalar's value in
// bytes: see Locate.
func (d *Document) ErrorAt(path string, offset int, format string, args ...any) *Error {
	e := d.Errorf(path, format, args...)
	e.Line, e.Col = d.Locate(path, offset)
	return e
}

// Broken reports whether Decode found a mistake at path or below it. A caller that validates
// decoded values skips broken ones, to avoid duplicate reports.
func (d *Document) Broken(path string) bool {
	for _, b := range d.broken {
		if within(b, path) {
			return true
		}
	}
	return false
}

// find returns the node of a path, aliases followed, and the node at which a
// mistake in it is reported. If the path does not exist, they are the ones of the
// nearest ancestor; both are nil if the document has no root.
func (d *Document) find(path string) (at, n *yaml.Node, ok bool) { return d.walk(steps(path)) }

func (d *Document) walk(path []step) (at, n *yaml.Node, ok bool) {
	if d.root == nil {
		return nil, nil, false
	}
	at, n = d.root, deref(d.root)
	for _, s := range path {
		switch {
		case n.Kind == yaml.MappingNode && s.index < 0:
			e, ok := lookup(n, s.key)
			if !ok {
				return at, n, false
			}
			if at, n = e.value, deref(e.value); n.Kind != yaml.ScalarNode || isNull(n) {
				at = e.key
			}
		case n.Kind == yaml.SequenceNode && s.index >= 0 && s.index < len(n.Content):
			at = n.Content[s.index]
			n = deref(at)
		default:
			return at, n, false
		}
	}
	return at, n, true
}

func lookup(n *yaml.Node, key string) (entry, bool) {
	for _, e := range entries(n, nil) {
		if e.key.Value == key {
			return e, true
		}
	}
	return entry{}, false
}

func place(n *yaml.Node) (line, col int) {
	if n == nil {
		return 1, 1
	}
	return max(n.Line, 1), max(n.Column, 1)
}
