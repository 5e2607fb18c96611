package collectors

import (
	"bytes"
	"encoding/json"
	"errors"
)

// jsonNode is a value of a JSON text without what is secret in it: an object has
// entries, an array items, and anything else neither.
type jsonNode struct {
	entries map[string]*jsonNode
	items   []*jsonNode
}

// parseJSON reads one value (RFC 8259). Unlike encoding/json, it refuses names that
// appear twice in an object: what they mean differs from reader to reader.
func parseJSON(data []byte) (func(fileKey) bool, *fileMistake) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		offset := len(data)
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			offset = int(syntax.Offset) - 1
		}
		return nil, fileMistakeAt(data, offset, "not valid JSON")
	}
	r := jsonReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	r.decoder.UseNumber()
	root, wrong := r.value()
	if wrong != nil {
		return nil, wrong
	}
	return root.has, nil
}

// jsonReader reads a text that is known to be valid.
type jsonReader struct {
	data    []byte
	decoder *json.Decoder
}

func (r *jsonReader) value() (*jsonNode, *fileMistake) {
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
	return node, nil
}

func (r *jsonReader) object(node *jsonNode) *fileMistake {
	for r.decoder.More() {
		before := r.decoder.InputOffset()
		token, err := r.decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return r.fail("not valid JSON")
		}
		if node.entries[name] != nil {
			between := len(r.data[before:]) - len(bytes.TrimLeft(r.data[before:], ", \t\r\n"))
			return fileMistakeAt(r.data, int(before)+between, "not valid JSON: a name appears twice in an object")
		}
		var wrong *fileMistake
		if node.entries[name], wrong = r.value(); wrong != nil {
			return wrong
		}
	}
	return r.end()
}

func (r *jsonReader) array(node *jsonNode) *fileMistake {
	for r.decoder.More() {
		item, wrong := r.value()
		if wrong != nil {
			return wrong
		}
		node.items = append(node.items, item)
	}
	return r.end()
}

// end takes the bracket that closes an object or an array.
func (r *jsonReader) end() *fileMistake {
	if _, err := r.decoder.Token(); err != nil {
		return r.fail("not valid JSON")
	}
	return nil
}

func (r *jsonReader) fail(text string) *fileMistake {
	return fileMistakeAt(r.data, int(r.decoder.InputOffset()), text)
}

func (n *jsonNode) has(key fileKey) bool {
	for _, step := range key {
		switch {
		case n.entries != nil:
			n = n.entries[step.name]
		case step.index >= 0 && step.index < len(n.items):
			n = n.items[step.index]
		default:
			return false
		}
		if n == nil {
			return false
		}
	}
	return true
}
