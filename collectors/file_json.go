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
func parseJSON(data []byte) (func(fileKey) bool, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		offset := len(data)
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			offset = int(syntax.Offset) - 1
		}
		return nil, syntaxAt(data, offset, "not valid JSON")
	}
	r := jsonReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	r.decoder.UseNumber()
	root, err := r.value()
	if err != nil {
		return nil, err
	}
	return root.has, nil
}

// jsonReader reads a text that is known to be valid.
type jsonReader struct {
	data    []byte
	decoder *json.Decoder
}

func (r *jsonReader) value() (*jsonNode, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, r.fail("not valid JSON")
	}
	node := &jsonNode{}
	switch token {
	case json.Delim('{'):
		node.entries = make(map[string]*jsonNode)
		err = r.object(node)
	case json.Delim('['):
		err = r.array(node)
	}
	return node, err
}

func (r *jsonReader) object(node *jsonNode) error {
	for r.decoder.More() {
		token, err := r.decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return r.fail("not valid JSON")
		}
		if node.entries[name] != nil {
			return r.fail("not valid JSON: a name appears twice in an object")
		}
		if node.entries[name], err = r.value(); err != nil {
			return err
		}
	}
	_, err := r.decoder.Token()
	return err
}

func (r *jsonReader) array(node *jsonNode) error {
	for r.decoder.More() {
		item, err := r.value()
		if err != nil {
			return err
		}
		node.items = append(node.items, item)
	}
	_, err := r.decoder.Token()
	return err
}

// fail is an error at the last byte of the token that was read last.
func (r *jsonReader) fail(text string) error {
	return syntaxAt(r.data, int(r.decoder.InputOffset())-1, text)
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
