package strictyaml_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		"a template":             {"a: 1\n---\nkind: Pod\nname: {{ .Release.Name }}\n", []string{"a"}, `f.yaml:4:7: {{ ... }} without quotes: this is a template, to be rendered first, as "helm template" does`},
		"a template within":      {"a: 1\n---\nkind: Pod\nspec: [{name: {{ .x }}}]\n", []string{"a"}, `f.yaml:4:15: {{ ... }} without quotes`},
		"a mapping as a key":     {"a: 1\n---\n? {kind: Pod}\n: 1\n", []string{"a", ""}, ""},
		"too much":               {strings.Repeat("#", 8<<20+1), nil, "f.yaml:1:1: file of 8388609 bytes, expected at most 8 MiB"},
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

// Each part has its lines, and its decoded values have positions in the file.
func TestParts(t *testing.T) {
	const file = "# head\na: 1\n# tail\n---\n---\n# above\nkind: List\nitems:\n# first\n- {a: 2}\n# second\n- a: 3\n- &x {a: four}\n- *x\n...\n# end\n---\nlist: []\n"
	parts, err := strictyaml.Parts("f.yaml", []byte(file))
	if err != nil || len(parts) != 3 {
		t.Fatalf("Parts() = %v, %v, want 3 documents", parts, err)
	}
	list := &parts[1]
	if got, want := fmt.Sprintf("%q %q %q %v", list.Text("kind"), list.Text("items"), list.Text("none"), list.Items("kind")), `"List" "" "" []`; got != want {
		t.Errorf("elements of the list = %s, want %s", got, want)
	}
	var got []string
	for _, p := range append(append([]strictyaml.Part{parts[0]}, parts[1].Items("items")...), parts[2]) {
		var into struct{ A int }
		_, mistakes := p.Decode(&into)
		last := fmt.Sprint(p.Last)
		if p.Last == math.MaxInt {
			last = "end"
		}
		line := fmt.Sprintf("%d: %d-%s a=%d", p.Number, p.First, last, into.A)
		for _, m := range mistakes {
			line += " " + m.Error()
		}
		got = append(got, line)
	}
	want := []string{
		"1: 1-3 a=1", "3: 5-11 a=2", "3: 12-12 a=3",
		`3: 13-13 a=0 f.yaml:13:10: a: expected a whole number, got "four"`,
		`3: 14-16 a=0 f.yaml:13:10: a: expected a whole number, got "four"`,
		`4: 17-end a=0 f.yaml:18:1: unknown key "list", expected one of a`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parts() differ (-want +got):\n%s", diff)
	}
}
