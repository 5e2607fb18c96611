package texttemplate_test

import (
	"slices"
	"testing"

	"github.com/vitals-health/vitals/internal/expand/texttemplate"
)

func TestQueries(t *testing.T) {
	for text, want := range map[string][]string{
		`up`:                              nil,
		`{{ query "a" | first | value }}`: {"a"},
		`{{ "a" | query | len }}`:         {"a"},
		`{{ with (query "a") }}{{ else }}{{ range query "b" }}{{ end }}{{ end }}`: {"a", "b"},
		`{{ query (printf "a{b=%q}" $labels.b) }}{{ printf "%s" "a" }}`:           nil,
		`{{ define "u" }}{{ query "c" }}{{ end }}{{ template "u" }}`:              {"c"},
		`{{ $q := "a" }}{{ query $q }}`:                                           nil,
	} {
		tmpl, err := texttemplate.Parse("t", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tmpl.Queries(); !slices.Equal(got, want) {
			t.Errorf("Queries() of %s = %q, want %q", text, got, want)
		}
	}
}
