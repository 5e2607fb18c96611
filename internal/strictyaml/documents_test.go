package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

func TestDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		given string
		want  []string
		err   string
	}{
		"several":                {"a: 1\n---\nb: 2\n", []string{"a", "b"}, ""},
		"empty ones":             {"---\n---\n# nothing\n---\na: 1\n---\n", []string{"a"}, ""},
		"none":                   {"", nil, ""},
		"one that is broken":     {"a: 1\n---\nb: [\n", []string{"a"}, "f.yaml:4:1: not valid YAML"},
		"an alias of itself":     {"a: 1\n---\nb: &b [*b]\n", []string{"a"}, "f.yaml:3:8: alias"},
		"nested deeply":          {strings.Repeat("[", 200) + strings.Repeat("]", 200), nil, "f.yaml:1:102: nested deeper than 100 levels"},
		"a byte that is no text": {"a: \x01\n", nil, "f.yaml:1:4: control character 0x01"},
		"too much":               {strings.Repeat("#", 1<<20+1), nil, "f.yaml:1:1: file of 1048577 bytes, expected at most 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			roots, err := strictyaml.Documents("f.yaml", []byte(c.given))
			var got []string
			for _, n := range roots {
				got = append(got, n.Content[0].Value)
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("documents = %v, want %v", got, c.want)
			}
			if text := ""; err != nil || c.err != "" {
				if err != nil {
					text = err.Error()
				}
				if c.err == "" || !strings.HasPrefix(text, c.err) {
					t.Errorf("error = %q, want %q...", text, c.err)
				}
			}
		})
	}
}
