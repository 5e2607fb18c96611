package strictyaml

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// Encode writes v as YAML. Decode can read it, unless v has types that hide their value,
// such as secrets.
func Encode(v any) ([]byte, error) { return yaml.Marshal(v) }

// Commented returns v for Encode with a comment above it: lines that begin with "#".
func Commented(comment string, v any) (any, error) {
	text, err := yaml.Marshal(v)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node // Node.Encode would drop the comments within v
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	n := doc.Content[0]
	n.HeadComment = comment
	return n, nil
}

// EncodeAll writes YAML documents with separators and an indentation of two.
func EncodeAll(documents ...any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	for _, d := range documents {
		if err := e.Encode(d); err != nil {
			return nil, err
		}
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
