package schema_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/schema"
)

var update = flag.Bool("update", false, "write the schema of the configuration")

const (
	module = "github.com/vitals-health/vitals"
	// variable is a value with a variable of the environment, whose type is unknown.
	variable = `\$\{`
	duration = `^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$|^0$`
	size     = `^[0-9]+([KMG]iB|[kMG]?B)?$`
)

// generated returns the schema of the configuration: of its Go types with their comments.
func generated(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{
		FieldNameTag: "yaml",
		// The decoder requires no key: a kind reports what it needs.
		RequiredFromJSONSchemaTags: true,
		Namer:                      named,
		Mapper:                     mapped,
	}
	t.Chdir("../..")
	for _, dir := range []string{"collectors", "internal/configfile"} {
		if err := r.AddGoComments(module, dir); err != nil {
			t.Fatal(err)
		}
	}
	root := reflect.TypeFor[config.Config]()
	generic, _, _ := strings.Cut(root.Name(), "[")
	for name, text := range r.CommentMap { // comments have the name of the generic type
		if rest, ok := strings.CutPrefix(name, root.PkgPath()+"."+generic); ok && (rest == "" || rest[0] == '.') {
			r.CommentMap[root.PkgPath()+"."+root.Name()+rest] = text
		}
	}
	s := r.Reflect(&config.Config{})
	s.ID = jsonschema.ID("https://" + module + "/internal/config/config.-config")
	s.Comments = schema.Mark
	s.Title, s.Description = "Configuration of Vitals", "vitals.yml: see docs/reference/config.md"
	for name, d := range s.Definitions {
		finish(name, d)
	}
	maps.Copy(s.Definitions, singles())
	oneKind(s.Definitions["kinds.Config"])
	for _, name := range []string{"components.SharedBoolean", "prometheus.Query", "discovery.Entry"} {
		short := s.Definitions[name] // the short form is the path, the expression or the address
		short.AnyOf = append(short.AnyOf, &jsonschema.Schema{Ref: "#/$defs/string"})
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// named returns the name of a type with its package: each kind has a type Config. The types of
// configfile have the name config, of which they are a part.
func named(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return strings.Replace(path.Base(t.PkgPath()), "configfile", "config", 1) + "." + name
}

// mapped returns the schemas of types with their own decoding.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[model.Duration]():
		return &jsonschema.Schema{Type: "string", Format: "duration"}
	case reflect.TypeFor[collectors.Size]():
		return &jsonschema.Schema{Type: "string", Format: "size"}
	case reflect.TypeFor[collectors.Secret]():
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// finish makes a definition accept what the decoder accepts, and names keys as in YAML.
func finish(name string, d *jsonschema.Schema) {
	if d.Properties == nil {
		*d = *value(d) // a mapping with any names
		return
	}
	for p := d.Properties.Oldest(); p != nil; p = p.Next() {
		p.Value = value(p.Value)
		p.Value.Description = describe(p.Key, p.Value.Description)
	}
	d.Description = describe(strings.TrimPrefix(path.Ext(name), "."), d.Description)
	d.Type, d.AnyOf = "", []*jsonschema.Schema{{Type: "object"}, {Type: "null"}}
}

// describe joins the lines of a comment, and replaces the first word, the name in Go.
func describe(key, comment string) string {
	words := strings.Fields(comment)
	if len(words) > 1 && strings.EqualFold(words[0], strings.ReplaceAll(key, "_", "")) {
		words[0] = key
	}
	return strings.Join(words, " ")
}

// value returns the schema of a value. Every value may be empty, which keeps the default.
func value(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Items != nil:
		s.Items = value(s.Items)
	case s.AdditionalProperties != nil && s.AdditionalProperties != jsonschema.FalseSchema:
		s.AdditionalProperties = value(s.AdditionalProperties)
	case s.Type == "":
		return s
	case s.Type == "object":
	default:
		return &jsonschema.Schema{Description: s.Description, Ref: "#/$defs/" + cmp.Or(s.Format, s.Type)}
	}
	of := *s
	of.Description = ""
	return &jsonschema.Schema{Description: s.Description, AnyOf: []*jsonschema.Schema{&of, {Type: "null"}}}
}

// singles returns the schemas of single values. A value may be empty or have a variable of
// the environment. The decoder takes the text of a number where it wants text.
func singles() jsonschema.Definitions {
	number := &jsonschema.Schema{Type: "number"}
	values := map[string][]*jsonschema.Schema{
		"string":   {{Type: "string"}, number, {Type: "boolean"}},
		"integer":  {{Type: "integer"}, {Type: "string", Pattern: variable}},
		"number":   {number, {Type: "string", Pattern: variable}},
		"boolean":  {{Type: "boolean"}, {Type: "string", Pattern: variable}},
		"duration": {{Type: "string", Pattern: duration, Examples: []any{"10s", "5m"}}, {Type: "string", Pattern: variable}, {Const: 0}},
		"size":     {{Type: "string", Pattern: size, Examples: []any{"10MiB"}}, {Type: "string", Pattern: variable}, {Type: "integer", Minimum: "0"}},
	}
	all := jsonschema.Definitions{}
	for name, of := range values {
		all[name] = &jsonschema.Schema{AnyOf: append(of, &jsonschema.Schema{Type: "null"})}
	}
	return all
}

// oneKind requires a name and exactly one kind of an entry of the list of collectors.
func oneKind(entry *jsonschema.Schema) {
	entry.Required = []string{"name"}
	for f := range reflect.TypeFor[kinds.Kinds]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		entry.OneOf = append(entry.OneOf, &jsonschema.Schema{Required: []string{key}})
	}
}

func TestConfigSchemaIsGenerated(t *testing.T) {
	want := generated(t)
	if *update {
		if err := os.WriteFile("internal/schema/"+schema.ConfigName, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, schema.Config()) {
		t.Errorf("%s is not generated of the types (-is +want); run the test with -update:\n%s",
			schema.ConfigName, gocmp.Diff(string(schema.Config()), string(want)))
	}
}
