package strictyaml_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// remarked is a list or an element of a list with a comment above it.
type remarked struct {
	Name  string
	Items []remarked `yaml:",omitempty"`

	comment string
}

// MarshalYAML writes the comment.
func (r remarked) MarshalYAML() (any, error) {
	type plain remarked
	if r.comment == "" {
		return plain(r), nil
	}
	return strictyaml.Commented(r.comment, plain(r))
}

// A comment is above its value, also within another value with a comment.
func TestCommented(t *testing.T) {
	given := remarked{"all", []remarked{{"a", nil, "# of a\n# and more"}, {"b", nil, ""}, {"c: |", nil, "# of c"}}, "# of all"}
	got, err := strictyaml.EncodeAll(given, given.Items[2])
	if err != nil {
		t.Fatal(err)
	}
	want := `# of all
name: all
items:
  # of a
  # and more
  - name: a
  - name: b
  # of c
  - name: 'c: |'
---
# of c
name: 'c: |'
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("EncodeAll() differs (-want +got):\n%s", diff)
	}
	if _, err := strictyaml.Commented("# of nothing", unwritable{}); err == nil {
		t.Error("Commented() = nil, want the error of the value")
	}
}

// unwritable cannot be encoded.
type unwritable struct{}

// MarshalYAML fails.
func (unwritable) MarshalYAML() (any, error) { return nil, errUnwritable }

var errUnwritable = errors.New("unwritable")
