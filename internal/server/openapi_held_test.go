package server

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/states"
)

// operations returns the operations of the document, as "GET /path".
func operations(document object) map[string]object {
	all := map[string]object{}
	for path, item := range document["paths"].(object) {
		for method, operation := range item.(object) {
			all[strings.ToUpper(method)+" "+path] = operation.(object)
		}
	}
	return all
}

// The document has every path and method that is served, HEAD and the files of the page
// excepted, and no other.
func TestOpenAPIHasEveryPath(t *testing.T) {
	s := New(Options{})
	probes := map[string]bool{}
	for _, state := range []string{evaluator.Ready, evaluator.Alive, evaluator.Started} {
		for _, name := range states.Names(state) {
			probes["/"+name] = true
		}
	}
	var want []string
	for _, pattern := range servedPaths() {
		path := regexp.MustCompile("[A-Z]{2,}").ReplaceAllStringFunc(pattern, func(name string) string { return "{" + strings.ToLower(name) + "}" })
		route, fixed := s.routes[pattern]
		switch {
		case strings.HasPrefix(path, "/assets/"), path == pathFaults, probes[path]:
		case path == pathComponents+"{name}":
			want = append(want, "PUT "+path)
		case path == pathSilences+"/{rule}", path == pathMaintenance+"/{state}":
			want = append(want, "PUT "+path, "DELETE "+path)
		case !fixed:
			want = append(want, "GET "+path)
		default:
			for _, method := range route.methods {
				if method != http.MethodHead {
					want = append(want, method+" "+path)
				}
			}
		}
	}
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(operations(openAPI(t))))
	if !slices.Equal(got, want) {
		t.Errorf("the document has the operations\n%v, want\n%v", got, want)
	}
}

// closed forbids properties that a schema does not have, which clients must ignore.
func closed(node object) {
	if node["properties"] != nil && node["type"] == "object" {
		node["additionalProperties"] = false
	}
}

// validator returns a function that validates JSON against a schema of the document.
func validator(t *testing.T, document object) func(schema object, text []byte) error {
	t.Helper()
	walk(document["components"].(object)["schemas"], closed)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	return func(schema object, text []byte) error {
		compiled, err := c.Compile("openapi.json" + referenceOf(schema))
		if err != nil {
			return err
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		return compiled.Validate(value)
	}
}

// jsonSchemas returns the schemas of the JSON responses of an operation, by the status code,
// with the name of the type where there are several.
func jsonSchemas(t *testing.T, document, operation object) map[string]object {
	t.Helper()
	all := map[string]object{}
	for code, response := range operation["responses"].(object) {
		content, _ := dereference(t, document, response.(object))["content"].(object)
		media, ok := content["application/json"].(object)
		if !ok {
			continue
		}
		schema := media["schema"].(object)
		if referenceOf(schema) != "" {
			all[code] = schema
		}
		several, _ := schema["anyOf"].([]any)
		for _, one := range several {
			all[code+" "+strings.TrimPrefix(referenceOf(one.(object)), schemaPrefix)] = one.(object)
		}
	}
	return all
}

// referenceOf returns the target of an object that is a reference, or "".
func referenceOf(schema object) string {
	ref, _ := schema["$ref"].(string)
	return ref
}

// Every documented JSON response has a schema that holds for what the server responded in
// other tests.
func TestOpenAPIDescribesTheResponses(t *testing.T) {
	kept := map[string][]string{
		"GET /{state} 200":                {"health_ok.json", "health_excluded.json"},
		"GET /{state} 503":                {"health_failing.json", "health_stopping.json"},
		"GET /{state}/{rule} 200":         {"health_rule.json"},
		"GET /{state}/{rule} 503":         {"health_rule.json"},
		"GET /api/v1/status 200 Status":   {"status.json", "status_empty.json"},
		"GET /api/v1/status 200 Changes":  {"changes.json", "changes_complete.json"},
		"GET /api/v1/verdict/{state} 200": {"verdict.json", "verdict_ok.json"},
		"GET /api/v1/explain/{state} 200": {"explain.json"},
		"GET /api/v1/events 200":          {"events.json", "events_none.json"},
		"GET /api/v1/history 200":         {"history.json"},
		"GET /api/v1/rules 200":           {"rules.json", "rules_without_alerts.json"},
		"GET /api/v1/rules 400":           {"rules_error.json"},
		"GET /api/v1/alerts 200":          {"alerts.json"},

		"GET /api/v1/silences 200":            {"silences.json"},
		"PUT /api/v1/silences/{rule} 200":     {"silence.json"},
		"GET /api/v1/maintenance 200":         {"maintenance.json"},
		"PUT /api/v1/maintenance/{state} 200": {"maintenance_of_ready.json"},

		"DELETE /api/v1/silences/{rule} 200":     {"not_stored.json"},
		"DELETE /api/v1/maintenance/{state} 200": {"not_stored.json"},
	}
	document := openAPI(t)
	validate := validator(t, document)
	seen := 0
	for name, operation := range operations(document) {
		for code, schema := range jsonSchemas(t, document, operation) {
			seen++
			files := kept[name+" "+code]
			if len(files) == 0 {
				t.Errorf("%s has a schema for %s, want a response to compare it with", name, code)
			}
			for _, file := range files {
				text, err := os.ReadFile(filepath.Join("testdata", file))
				if err != nil {
					t.Fatal(err)
				}
				if err := validate(schema, text); err != nil {
					t.Errorf("%s %s: %s is not as documented: %v", name, code, file, err)
				}
				if err := validate(schema, []byte(`{"other": 1}`)); err == nil {
					t.Errorf("%s %s: the schema allows anything, want it to describe the response", name, code)
				}
			}
		}
	}
	if seen != len(kept) {
		t.Errorf("%d schemas of responses, want %d", seen, len(kept))
	}
}

// The schema of a report holds for what the server takes, and not for what it refuses.
func TestOpenAPIDescribesReports(t *testing.T) {
	document := openAPI(t)
	validate := validator(t, document)
	snap := &evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour}
	s := New(Options{
		Snapshot: func() *evaluator.Snapshot { return snap },
		Report:   func(string, collectors.Report) error { return nil },
	})
	for _, text := range []string{
		`{}`, `{"alive": true}`, `{"alive": true, "ready": false, "reason": "resync"}`,
		`{"events": [{"event": "cni_add", "result": "failure", "error": "timeout"}, {"event": "cni_add", "result": "success"}]}`,
		`{"alive": 1}`, `{"reason": false}`, `{"other": 1}`, `{"events": {}}`, `{"events": [{"event": "a", "result": "b", "c": 1}]}`, `[]`, `"alive"`,
	} {
		r := httptest.NewRequest(http.MethodPut, pathComponents+"watcher", strings.NewReader(text))
		w := httptest.NewRecorder()
		s.Local(func(*http.Request) error { return nil }).ServeHTTP(w, r)
		err := validate(object{"$ref": schemaPrefix + "Report"}, []byte(text))
		if taken := w.Code == http.StatusNoContent; taken != (err == nil) {
			t.Errorf("PUT %s = %d, and by the schema: %v", text, w.Code, err)
		}
	}
}

// Each operation has a name of its own and declares the parameters in its path, and nothing
// is referred to that does not exist.
func TestOpenAPIIsComplete(t *testing.T) {
	document := openAPI(t)
	names := map[any]bool{}
	for path, operation := range operations(document) {
		if name := operation["operationId"]; name == nil || names[name] || operation["summary"] == nil {
			t.Errorf("%s has the name %v and the summary %v, want both, and no other operation of the name", path, name, operation["summary"])
		}
		names[operation["operationId"]] = true
		var declared []string
		parameters, _ := operation["parameters"].([]any)
		for _, p := range parameters {
			parameter := dereference(t, document, p.(object))
			if parameter["in"] == "path" {
				declared = append(declared, "{"+parameter["name"].(string)+"}")
			}
		}
		if inPath := regexp.MustCompile(`\{[a-z]+\}`).FindAllString(path, -1); !slices.Equal(inPath, declared) {
			t.Errorf("%s declares the parameters %q of its path, want %q", path, declared, inPath)
		}
	}
	walk(document, func(node object) { dereference(t, document, node) })
}

// walk calls visit for every object.
func walk(node any, visit func(object)) {
	switch node := node.(type) {
	case object:
		visit(node)
		for _, child := range node {
			walk(child, visit)
		}
	case []any:
		for _, child := range node {
			walk(child, visit)
		}
	}
}

// dereference returns the object that a reference is for, and other objects as they are.
func dereference(t *testing.T, document, node object) object {
	t.Helper()
	reference := referenceOf(node)
	if reference == "" {
		return node
	}
	target := any(document)
	for key := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		target = target.(object)[key]
	}
	found, ok := target.(object)
	if !ok {
		t.Errorf("%s is not in the document", reference)
	}
	return found
}
