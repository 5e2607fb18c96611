package texttemplate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/expand/texttemplate"
)

func TestConstants(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no template", `up "a"`, nil},
		{"no constant", `{{ $value }}`, nil},
		{"an argument", `{{ query "a" }}`, []string{"a"}},
		{"a pipeline in order", `{{ "a" | printf "b %s" | query }}`, []string{"a", "b %s"}},
		{"parentheses and a field", `{{ (query "a" | first).Value }}{{ (first (query "b")).Labels.x }}`, []string{"a", "b"}},
		{"branches", `{{ if query "a" }}{{ query "b" }}{{ else if eq "c" $labels.x }}{{ query "d" }}{{ else }}{{ query "e" }}{{ end }}`, []string{"a", "b", "c", "d", "e"}},
		{"a branch without else", `{{ with query "a" }}{{ . }}{{ end }}`, []string{"a"}},
		{"a loop", `{{ range query "a" }}{{ query "b" }}{{ else }}{{ query "c" }}{{ end }}`, []string{"a", "b", "c"}},
		{"a variable", `{{ $x := query "a" }}{{ len $x }}`, []string{"a"}},
		{"a template of its own", `{{ define "t" }}{{ query "a" }}{{ end }}{{ template "t" }}{{ template "t" "b" }}`, []string{"b", "a"}},
		{"a raw string", "{{ query `a{x=\"1\"}` }}", []string{`a{x="1"}`}},
	} {
		tmpl, err := texttemplate.Parse("__alert_A", c.text)
		if err != nil {
			t.Fatalf("%s: Parse() = %v, want no error", c.name, err)
		}
		if diff := cmp.Diff(c.want, tmpl.Constants()); diff != "" {
			t.Errorf("%s: Constants() differ (-want +got):\n%s", c.name, diff)
		}
	}
}
