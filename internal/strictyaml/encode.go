package strictyaml

import "gopkg.in/yaml.v3"

// Encode writes v as YAML, which Decode reads back unless v has values that do not show
// themselves, such as secrets.
func Encode(v any) ([]byte, error) { return yaml.Marshal(v) }
