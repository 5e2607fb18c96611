package file

import (
	"bytes"
	"encoding/json"
	"errors"
)

// jsonNode is a JSON value without strings, which may be secret: an object has entries, an
// array items, a number its text, and any other value none of them.
type jsonNode struct {
	entries map[string]*jsonNode
	items   []*jsonNode
	number  json.Number
}

// parseJSON reads one value (RFC 8259). Unlike encoding/json, it rejects names that
// appear twice in an object: parsers differ in which of them they use.
func parseJSON(data []byte) (*jsonNode, *Mistake) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		offset := len(data)
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			offset = int(syntax.Offset) - 1
		}
		return nil, mistakeAt(data, offset, "not valid JSON")
	}
	r := jsonReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	r.decoder.UseNumber()
	return r.value()
}

// jsonReader reads a valid text.
type jsonReader struct {
	data    []byte
	decoder *json.Decoder
}

func (r *jsonReader) value() (*jsonNode, *Mistake) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, r.fail("not valid JSON")
	}
	node := &jsonNode{}
	switch token {
	case json.Delim('{'):
		node.entries = make(map[string]*jsonNode)
		return node, r.object(node)
	case json.Delim('['):
		return node, r.array(node)
	}
	node.number, _ = token.(json.Number)
	return node, nil
}

func (r *jsonReader) object(node *jsonNode) *Mistake {
	for r.decoder.More() {
		before := r.decoder.InputOffset()
		token, err := r.decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return r.fail("not valid JSON")
		}
		if node.entries[name] != nil {
			between := len(r.data[before:]) - len(bytes.TrimLeft(r.data[before:], ", \t\r\n"))
			return mistakeAt(r.data, int(before)+between, "not valid JSON: a name appears twice in an object")
		}
		var wrong *Mistake
		if node.entries[name], wrong = r.value(); wrong != nil {
			return wrong
		}
	}
	return r.end()
}

func (r *jsonReader) array(node *jsonNode) *Mistake {
	for r.decoder.More() {
		item, wrong := r.value()
		if wrong != nil {
			return wrong
		}
		node.items = append(node.items, item)
	}
	return r.end()
}

// end reads the bracket that closes an object or an array.
func (r *jsonReader) end() *Mistake {
	if _, err := r.decoder.Token(); err != nil {
		return r.fail("not valid JSON")
	}
	return nil
}

func (r *jsonReader) fail(text string) *Mistake {
	return mistakeAt(r.data, int(r.decoder.InputOffset()), text)
}

func (n *jsonNode) has(key Key) bool { return n.find(key) != nil }

// numberAt returns the number at a key, unless there is none or it is beyond a float64.
func (n *jsonNode) numberAt(key Key) (float64, bool) {
	found := n.find(key)
	if found == nil {
		return 0, false
	}
	v, err := found.number.Float64()
	return v, err == nil
}

// find returns the value at a key, or nil.
func (n *jsonNode) find(key Key) *jsonNode {
	for _, step := range key {
		switch {
		case n.entries != nil:
			n = n.entries[step.Name]
		case step.Index >= 0 && step.Index < len(n.items):
			n = n.items[step.Index]
		default:
			return nil
		}
		if n == nil {
			return nil
		}
	}
	return n
}
