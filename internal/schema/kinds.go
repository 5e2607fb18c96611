package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// shipped is the path of the packages whose types are in the schema of the configuration.
const shipped = "github.com/vitals-health/vitals/collectors/"

// object is a value in a schema.
type object = map[string]any

// ForKinds returns the schema of the configuration file of a program with other kinds: struct types,
// by their keys. Types that decode themselves accept any value, unless they are shipped.
func ForKinds(kinds map[string]reflect.Type) []byte {
	var s struct {
		Schema string `json:"$schema"`
		Ref    string `json:"$ref"`
		Title  string `json:"title"`
		Defs   defs   `json:"$defs"`
	}
	if err := json.Unmarshal(Config(), &s); err != nil {
		panic("internal error: " + err.Error()) // it is a part of the program
	}
	entry := s.Defs["kinds.Config"]
	all, _ := entry["properties"].(object)
	properties := object{"name": all["name"], "interval": all["interval"], "timeout": all["timeout"]}
	var one []any
	named := map[reflect.Type]string{}
	for _, key := range slices.Sorted(maps.Keys(kinds)) {
		properties[key] = s.Defs.valueOf(kinds[key], named)
		one = append(one, object{"required": []string{key}})
	}
	if len(kinds) == 0 {
		one = []any{false} // no entry has a kind
	}
	entry["properties"], entry["oneOf"] = properties, one
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("internal error: " + err.Error()) // it has maps, lists, texts and booleans
	}
	return append(data, '\n')
}

// defs are the definitions of a schema.
type defs map[string]object

// valueOf returns the schema of the values of a type. A value may be empty, which keeps the default.
// named has the definitions of the named types so far, of which one may be in itself.
func (d defs) valueOf(t reflect.Type, named map[reflect.Type]string) object {
	single := func(name string) object { return object{"$ref": "#/$defs/" + name} }
	name := path.Base(t.PkgPath()) + "." + t.Name()
	switch {
	case t.Kind() == reflect.Pointer:
		return d.valueOf(t.Elem(), named)
	case strings.HasPrefix(t.PkgPath(), shipped) && d[name] != nil:
		return single(name)
	case t == reflect.TypeFor[model.Duration](), t == reflect.TypeFor[time.Duration]():
		return single("duration")
	case t == reflect.TypeFor[collectors.Size]():
		return single("size")
	case t == reflect.TypeFor[collectors.Secret]():
		return single("string")
	case strictyaml.Custom(t):
		return object{}
	}
	switch kind := t.Kind(); {
	case kind == reflect.Struct, t.Name() != "" && (kind == reflect.Map || kind == reflect.Slice):
		if named[t] == "" {
			named[t] = fmt.Sprintf("own.%d", len(named)+1)
			d[named[t]] = d.composite(t, named)
		}
		return single(named[t])
	case kind == reflect.Map, kind == reflect.Slice:
		return d.composite(t, named)
	case kind == reflect.String:
		return single("string")
	case kind == reflect.Bool:
		return single("boolean")
	case kind >= reflect.Int && kind <= reflect.Uintptr:
		return single("integer")
	case kind == reflect.Float32 || kind == reflect.Float64:
		return single("number")
	}
	return object{}
}

// composite returns the schema of the values of a struct, a map or a slice.
func (d defs) composite(t reflect.Type, named map[reflect.Type]string) object {
	switch t.Kind() {
	case reflect.Map:
		return orEmpty(object{"type": "object", "additionalProperties": d.valueOf(t.Elem(), named)})
	case reflect.Slice:
		return orEmpty(object{"type": "array", "items": d.valueOf(t.Elem(), named)})
	}
	properties := object{}
	keys := strictyaml.Keys(t)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		properties[key] = d.valueOf(keys[key], named)
	}
	return orEmpty(object{"type": "object", "properties": properties, "additionalProperties": false})
}

// orEmpty returns a schema that also accepts an empty value.
func orEmpty(of object) object { return object{"anyOf": []any{of, object{"type": "null"}}} }
