package strictyaml

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// Encode writes v as YAML, which Decode reads back unless v has values that do not show
// themselves, such as secrets.
func Encode(v any) ([]byte, error) { return yaml.Marshal(v) }

// EncodeAll writes one document each, as people write them: indented by two, with lines
// that divide them.
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
