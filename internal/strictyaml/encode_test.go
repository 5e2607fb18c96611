package strictyaml_test

import (
	"errors"
	"testing"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

func TestEncodeAll(t *testing.T) {
	type part struct {
		Name string
		List []string
	}
	got, err := strictyaml.EncodeAll(part{"a: b", []string{"one\ntwo\n"}}, part{Name: "{{ x }}"})
	const want = `name: 'a: b'
list:
  - |
    one
    two
---
name: '{{ x }}'
list: []
`
	if err != nil || string(got) != want {
		t.Errorf("EncodeAll() = %v\n%s\nwant\n%s", err, got, want)
	}
}

func TestEncodeAllFails(t *testing.T) {
	if got, err := strictyaml.EncodeAll(unencodable{}); err == nil {
		t.Errorf("EncodeAll() = %q, want the error of the value", got)
	}
}

// unencodable cannot be encoded.
type unencodable struct{}

func (unencodable) MarshalYAML() (any, error) { return nil, errors.New("no YAML") }
