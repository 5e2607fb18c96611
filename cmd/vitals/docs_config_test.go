package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
)

// docKey is a key of a configuration: its path as the pages write it, such as
// access[].verb or states.NAME.no_data.
type docKey struct {
	path string
	// leaf is false for a block or a list of blocks.
	leaf bool
	// value is the key's value once the defaults are set.
	value reflect.Value
}

// docKeys lists the keys of a configuration. Kinds stands for all its fields.
func docKeys(path string, v reflect.Value) []docKey {
	if d, ok := v.Addr().Interface().(interface{ SetDefaults() }); ok {
		d.SetDefaults()
	}
	var keys []docKey
	for f, value := range v.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case f.Type == reflect.TypeFor[kinds.Kinds]():
			keys = append(keys, docKey{path + "KIND", true, value})
		case strings.Contains(options, "inline"):
			keys = append(keys, docKeys(path, value)...)
		default:
			keys = append(keys, docBlock(path+name, value)...)
		}
	}
	return keys
}

// docBlock returns a key and the keys below it.
func docBlock(path string, v reflect.Value) []docKey {
	switch t := v.Type(); {
	case t.Kind() == reflect.Struct:
		return append([]docKey{{path, false, v}}, docKeys(path+".", v)...)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return append([]docKey{{path, false, v}}, docKeys(path+".", reflect.New(t.Elem()).Elem())...)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return append([]docKey{{path, false, v}}, docKeys(path+"[].", reflect.New(t.Elem()).Elem())...)
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return append([]docKey{{path, false, v}}, docKeys(path+".NAME.", reflect.New(t.Elem()).Elem())...)
	}
	return []docKey{{path, true, v}}
}

// docKinds are the kinds of collectors and their keys.
func docKinds() map[string][]docKey {
	listed := map[string][]docKey{}
	for f := range reflect.TypeFor[kinds.Kinds]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		listed[name] = docKeys("", reflect.New(f.Type.Elem()).Elem())
	}
	return listed
}

// checkDefault compares the default of a row with the one that is set.
func checkDefault(t *testing.T, page string, k docKey, row []string) {
	t.Helper()
	if !k.leaf || !k.value.IsValid() || k.value.IsZero() || k.value.Kind() == reflect.Struct {
		return
	}
	documented := append(codeSpans(row[1]), "")[0]
	got := reflect.New(k.value.Type())
	if err := yaml.Unmarshal([]byte(documented), got.Interface()); err != nil || !reflect.DeepEqual(got.Elem().Interface(), k.value.Interface()) {
		t.Errorf("%s: the default of %s is given as %q, want %v", page, k.path, row[1], k.value)
	}
}

// checkKeyTables compares the tables of keys of a page with the keys that exist. Code
// spans of the first column are keys. The tables of elsewhere may document keys too.
func checkKeyTables(t *testing.T, page string, keys []docKey, elsewhere ...string) {
	t.Helper()
	var named []string
	for _, text := range append([]string{readDoc(t, page)}, elsewhere...) {
		for _, table := range docTables(text, "key") {
			for _, row := range table.rows {
				named = append(named, codeSpans(row[0])...)
				// The row of a small block may list its keys in the third column.
				for _, k := range keys {
					if span := codeSpans(row[0]); !k.leaf && slices.Contains(span, k.path) {
						for _, inner := range codeSpans(row[2]) {
							named = append(named, k.path+"."+inner)
						}
					}
				}
			}
		}
	}
	for _, k := range keys {
		if k.leaf && !slices.Contains(named, k.path) {
			t.Errorf("%s names no key %s, want a row for it", page, k.path)
		}
	}
	for _, table := range docTables(readDoc(t, page), "key") {
		for _, row := range table.rows {
			for _, span := range codeSpans(row[0]) {
				i := slices.IndexFunc(keys, func(k docKey) bool { return k.path == span })
				if i < 0 {
					t.Errorf("%s names the key %s, which does not exist", page, span)
					continue
				}
				checkDefault(t, page, keys[i], row)
			}
		}
	}
}

// Every key is on a page, with its default, and every key on a page exists.
func TestConfigPages(t *testing.T) {
	var cfg config.Config
	checkKeyTables(t, "docs/reference/config.md", docKeys("", reflect.ValueOf(&cfg).Elem()))
	credentials := readDoc(t, "collectors/openstack/keystone.md")
	for kind, keys := range docKinds() {
		page := kindPage(t, kind)
		if strings.Contains(readDoc(t, page), "the credentials of [`keystone`](keystone.md)") {
			checkKeyTables(t, page, keys, credentials)
			continue
		}
		checkKeyTables(t, page, keys)
	}
}

// The overview has a row for every kind, made of the file example.yml in its folder. With
// -update the test writes the table between its marks.
func TestCollectorsPage(t *testing.T) {
	const page, begin, end = "docs/reference/collectors.md", "<!-- kinds -->\n", "<!-- end -->\n"
	var table strings.Builder
	table.WriteString("| kind | where | measures | example |\n|---|---|---|---|\n")
	for _, name := range kinds.Names() {
		about, block := kindExample(t, name)
		checkExample(t, page, name, "`"+block+"`")
		fmt.Fprintf(&table, "| [`%s`](../../%s) | %s | %s | `%s` |\n", name, kindPage(t, name), kindPlace(kinds.New(name)), about, strings.ReplaceAll(block, "|", `\|`))
	}
	text := readDoc(t, page)
	before, rest, ok := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no marks %q and %q, want them around the table", page, begin, end)
	}
	want := before + begin + table.String() + end + after
	if *updateDocs {
		if err := os.WriteFile(filepath.Join(docsRoot, page), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("%s differs from the examples of the kinds: run go test ./cmd/vitals -run TestCollectorsPage -update and review the difference", page)
	}
}

// kindPlace describes where a kind measures.
func kindPlace(kind collectors.Kind) string {
	_, targeted := kind.(collectors.Targeted)
	external := slices.ContainsFunc(kind.Metrics(""), func(m collectors.Metric) bool { return m.Name == "vitals_dependency_up" })
	switch {
	case external && targeted:
		return "external, or local by its target"
	case external:
		return "external"
	case targeted:
		return "local, or external by its target"
	}
	return "local"
}

// kindExample returns the entry of a kind in example.yml of its folder: a comment with what
// it measures, and a block in one line.
func kindExample(t *testing.T, kind string) (about, block string) {
	t.Helper()
	text := readDoc(t, path.Dir(kindPage(t, kind))+"/testdata/example.yml")
	m := regexp.MustCompile(`(?m)^# (.+)\n(` + kind + `: \{.*\})$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("example.yml of the kind %s is %q, want a comment and the line %s: {...}", kind, text, kind)
	}
	return m[1], m[2]
}

// checkExample loads the example of a kind: one line of an entry of collectors.
func checkExample(t *testing.T, page, kind, cell string) {
	t.Helper()
	spans := codeSpans(cell)
	if len(spans) != 1 || !strings.HasPrefix(spans[0], kind+": {") {
		t.Errorf("%s: the example of %s is %s, want one line of YAML in backticks", page, kind, cell)
		return
	}
	text := "collectors:\n  - name: other\n    keystone: {}\n  - name: example\n    " + spans[0] + "\n"
	loadDoc(t, page+", the example of "+kind, text, strings.Replace(text, "keystone: keystone", "keystone: other", 1))
}
