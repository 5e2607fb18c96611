package server

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/server/promapi"
	"github.com/vitals-health/vitals/internal/server/verdicts"
)

// object is an object in JSON.
type object = map[string]any

const schemaPrefix = "#/components/schemas/"

// describedTypes are the bodies of requests and responses. The schemas of their parts follow.
func describedTypes() []any {
	return []any{
		Status{}, verdicts.Health{}, execprobe.Verdict{}, explain.Explanation{}, Events{}, history.Strips{},
		promapi.RulesResponse{}, promapi.AlertingRule{}, promapi.RecordingRule{}, promapi.AlertsResponse{}, promapi.ErrorResponse{}, report{},
		SilenceList{}, MaintenanceList{}, OverrideRequest{}, BegunOverride{}, Unstored{}, Changes{},
	}
}

// encodedFields are what fields hold that are encoded before.
func encodedFields() map[string]reflect.Type {
	return map[string]reflect.Type{
		"server.Changes.Rules":      reflect.TypeFor[[]RuleStatus](),
		"server.Changes.Collectors": reflect.TypeFor[[]CollectorStatus](),
	}
}

// schemas makes JSON schemas of Go types.
type schemas struct {
	// byName are the schemas of structs.
	byName object
	// comments are the comments of structs and their fields, by package, type and field.
	comments map[string]string
}

// of returns the schema of a type.
func (s *schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[explain.Number]():
		return object{"oneOf": []any{object{"type": "number"}, object{"enum": []any{"NaN", "+Inf", "-Inf"}}}}
	case reflect.TypeFor[history.Values]():
		return object{"type": "array", "items": object{"type": []any{"number", "null"}}}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Interface: // of the rules of a group
		return object{"oneOf": []any{s.of(reflect.TypeFor[promapi.AlertingRule]()), s.of(reflect.TypeFor[promapi.RecordingRule]())}}
	case reflect.Struct:
		return s.ofStruct(t)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.String:
		return object{"type": "string"}
	}
	panic("no schema for " + t.String())
}

// ofStruct returns a reference to the schema of a struct.
func (s *schemas) ofStruct(t reflect.Type) object {
	name := t.String()
	if strings.Contains(t.PkgPath(), "/internal/server") {
		name = strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	}
	if s.byName[name] != nil {
		return object{"$ref": schemaPrefix + name}
	}
	properties, required := object{}, []any{}
	schema := object{"type": "object", "properties": properties}
	s.byName[name] = schema
	annotate(schema, s.comments[t.String()])
	for _, f := range reflect.VisibleFields(t) {
		key, options, tagged := strings.Cut(f.Tag.Get("json"), ",")
		if !tagged && key == "" || key == "-" {
			continue // an embedded struct
		}
		property := s.of(cmp.Or(encodedFields()[t.String()+"."+f.Name], f.Type))
		owner := t
		for _, i := range f.Index[:len(f.Index)-1] {
			owner = owner.Field(i).Type
		}
		annotate(property, replaceFirst(s.comments[owner.String()+"."+f.Name], f.Name, key))
		properties[key] = property
		if options == "" && t != reflect.TypeFor[report]() {
			required = append(required, key)
		}
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	return object{"$ref": schemaPrefix + name}
}

// replaceFirst replaces the first word of a sentence.
func replaceFirst(sentence, word, with string) string {
	if rest, ok := strings.CutPrefix(sentence, word+" "); ok {
		return with + " " + rest
	}
	return sentence
}

// annotate adds a comment to a schema.
func annotate(schema object, comment string) {
	if comment != "" {
		schema["description"] = comment
	}
}

// commentsOf returns the comments of the structs of some packages, in one line each.
func commentsOf(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no Go files in %s: %v", dir, err)
		}
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					structComments(all, file.Name.Name, g)
				}
			}
		}
	}
	return all
}

func structComments(all map[string]string, pkg string, g *ast.GenDecl) {
	for _, spec := range g.Specs {
		typ, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		name := pkg + "." + typ.Name.Name
		all[name] = oneLine(g.Doc)
		if st, ok := typ.Type.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				for _, n := range f.Names {
					all[name+"."+n.Name] = oneLine(f.Doc)
				}
			}
		}
	}
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// openAPI returns the served document.
func openAPI(t *testing.T) (document object) {
	t.Helper()
	w := httptest.NewRecorder()
	snap := &evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour}
	s := New(Options{Snapshot: func() *evaluator.Snapshot { return snap }})
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+pathOpenAPI, http.NoBody))
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil || w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("GET %s = %d %s: %v, want 200 and JSON", pathOpenAPI, w.Code, w.Header().Get("Content-Type"), err)
	}
	return document
}

// The document is testdata/openapi.yaml and the schemas of the types that are encoded.
func TestOpenAPIIsGenerated(t *testing.T) {
	text, err := os.ReadFile("testdata/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document object
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	s := &schemas{object{}, commentsOf(t, ".", "promapi", "verdicts", "../history", "../explain", "../execprobe", "../../collectors", "../../evaluator")}
	for _, of := range describedTypes() {
		s.of(reflect.TypeOf(of))
	}
	document["components"].(object)["schemas"] = s.byName
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(document); err != nil {
		t.Fatal(err)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile("openapi.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("openapi.json is not that of the types, run the test with -update (-want +got):\n%s", diff)
	}
}
