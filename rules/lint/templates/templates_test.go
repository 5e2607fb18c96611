package templates

import (
	"slices"
	"testing"
)

func TestTemplateLabels(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`a $labels.b`, nil},
		{`{{ $labels.a }} of {{ .Labels.b }}, {{ $labels.a | toUpper }}`, []string{"a", "b"}},
		{`{{ index $labels "a" }}{{ index . "b" }}{{ index $labels $value }}`, []string{"a"}},
		{`{{ if eq ($labels.a | toUpper) "X" }}{{ .Labels.b }}{{ else if $labels.c }}{{ end }}`, []string{"a", "b", "c"}},
		{`{{ (printf "%s" $labels.a).Value }}`, []string{"a"}},
		{`{{ with $labels.a }}{{ .Labels.b }}{{ $labels.c }}{{ else }}{{ .Labels.d }}{{ end }}`, []string{"a", "c", "d"}},
		{`{{ range query (printf "x{y=%q}" $labels.a) }}{{ .Labels.b }}{{ else }}{{ .Labels.c }}{{ end }}`, []string{"a", "c"}},
		{`{{ $l := $labels }}{{ $l.a }}{{ .Value.b }}{{ $value }}`, nil},
		{`{{ define "x" }}{{ .Labels.a }}{{ end }}{{ template "x" $labels.b }}`, []string{"b"}},
		{`{{ if`, nil},
	} {
		if got := templateLabels(c.text); !slices.Equal(got, c.want) {
			t.Errorf("templateLabels(%s) = %v, want %v", c.text, got, c.want)
		}
	}
}
