package strictyaml_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// FuzzDecode checks that decoding does not panic and is deterministic, and that mistakes are
// in order and within the file.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "listeners[1].port", 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, path string, offset int) {
		var first, second config
		doc, errs := strictyaml.Decode("f", data, &first, strictyaml.WithExpand(expand))
		_, again := strictyaml.Decode("f", data, &second, strictyaml.WithExpand(expand))
		if one, two := marshal(t, first), marshal(t, second); one != two {
			t.Errorf("Decode() = %s, and the second time %s", one, two)
		}
		if diff := cmp.Diff(errs, again); diff != "" {
			t.Errorf("Decode() twice has other mistakes:\n%s", diff)
		}
		last := 1
		for _, e := range errs {
			if e.Line < last || e.Line > len(data)+1 || e.Col < 1 {
				t.Errorf("Decode() has a mistake at %d:%d after line %d", e.Line, e.Col, last)
			}
			last = e.Line
		}
		if line, col := doc.Locate(path, offset); line < 1 || col < 1 {
			t.Errorf("Locate(%q, %d) = %d:%d, want positive numbers", path, offset, line, col)
		}
		hidden := doc.Redacted(func(string, string) bool { return true }, slices.Clone[[]string])
		if len(errs) == 0 && len(hidden) == 0 {
			t.Errorf("Redacted() = nothing for a valid file, want text")
		}
	})
}

// marshal makes decoded values comparable, NaN and pointers included.
func marshal(t *testing.T, c config) string {
	text, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
