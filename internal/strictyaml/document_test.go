package strictyaml_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

const positions = `name: a
collectors:
  - name: x
    keystone:
      user: é
  - name: y
    neutron: {}
    "a.b": [1, 2]
    null_block:
anchored: &a
  deep: v
alias: *a
merged:
  <<: *a
`

func TestDocumentPosition(t *testing.T) {
	tests := []struct {
		name, path string
		line, col  int
	}{
		{"whole document", "", 1, 1},
		{"scalar", "name", 1, 7},
		{"list", "collectors", 2, 1},
		{"list element", "collectors[1]", 6, 5},
		{"block", "collectors[0].keystone", 4, 5},
		{"scalar in a block", "collectors[0].keystone.user", 5, 13},
		{"empty braces", "collectors[1].neutron", 7, 5},
		{"missing key", "collectors[0].keystone.auth_url", 4, 5},
		{"missing grandchild", "collectors[1].neutron.a.b.c", 7, 5},
		{"missing element", "collectors[7].name", 2, 1},
		{"quoted key", `collectors[1]["a.b"][1]`, 8, 16},
		{"empty block", "collectors[1].null_block", 9, 5},
		{"missing at the top", "absent", 1, 1},
		{"behind an alias", "alias.deep", 11, 9},
		{"merged", "merged.deep", 11, 9},
		{"no path at all", "[[x", 1, 1},
		{"unclosed quote", `["a`, 1, 1},
		{"huge index", "collectors[99999999999999999999]", 2, 1},
	}
	doc, errs := strictyaml.Decode("f", []byte(positions), new(any))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line, col := doc.Position(tt.path)
			if line != tt.line || col != tt.col {
				t.Errorf("Position(%q) = %d:%d, want %d:%d", tt.path, line, col, tt.line, tt.col)
			}
		})
	}
	for path, want := range map[string]string{
		"name": "1:1", "collectors[0].keystone": "4:5", "collectors[0].keystone.user": "5:7", `collectors[1]["a.b"]`: "8:5",
		"alias.deep": "11:3", "": "1:1", "collectors[1]": "6:5", "absent": "1:1", "name.x": "1:7", "collectors.name": "2:1",
	} {
		line, col := doc.KeyPosition(path)
		if got := fmt.Sprintf("%d:%d", line, col); got != want {
			t.Errorf("KeyPosition(%q) = %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]bool{
		"": true, "name": true, "collectors[1].null_block": true, "alias.deep": true, "merged.deep": true,
		"absent": false, "name.x": false, "collectors[2]": false, "collectors.name": false,
	} {
		if got := doc.Has(path); got != want {
			t.Errorf("Has(%q) = %t, want %t", path, got, want)
		}
	}
	want := "f:4:5: collectors[0].keystone.auth_url: expected a URL"
	if got := doc.Errorf("collectors[0].keystone.auth_url", "expected a %s", "URL").Error(); got != want {
		t.Errorf("Errorf() = %q, want %q", got, want)
	}
}

func TestDocumentOfBrokenFile(t *testing.T) {
	doc, _ := strictyaml.Decode("f", []byte("]"), new(any))
	if got, want := doc.Errorf("a.b", "text").Error(), "f:1:1: a.b: text"; got != want {
		t.Errorf("Errorf() = %q, want %q", got, want)
	}
	if line, col := doc.Locate("a", 3); line != 1 || col != 1 {
		t.Errorf("Locate() = %d:%d, want 1:1", line, col)
	}
	if got := doc.Redacted(func(string, string) bool { return false }, slices.Clone[[]string]); got != nil {
		t.Errorf("Redacted() = %q, want nothing", got)
	}
	if !doc.Broken("a") && !doc.Broken("") {
		t.Errorf("Broken() = false, want true")
	}
}

func TestDocumentBroken(t *testing.T) {
	doc, _ := strictyaml.Decode("f", []byte("listeners:\n  - port: x\n  - {port: 1, zap: 1}\nnested: {}"), new(config))
	tests := []struct {
		path string
		want bool
	}{
		{"", true}, {"listeners", true}, {"listeners[0]", true}, {"listeners[0].port", true}, {"listeners[0].po", false},
		{"listeners[1]", true}, {"listeners[1].port", false}, {"nested", false}, {"listeners[10]", false},
	}
	for _, tt := range tests {
		if got := doc.Broken(tt.path); got != tt.want {
			t.Errorf("Broken(%q) = %t, want %t", tt.path, got, tt.want)
		}
	}
}

// TestLocate locates the word "here" in a value in every style.
func TestLocate(t *testing.T) {
	tests := []struct {
		name, given string
		line, col   int
	}{
		{"plain", "a: x + here", 1, 8},
		{"plain at the start", "a: here", 1, 4},
		{"plain over two lines", "a: x +\n   y + here", 2, 8},
		{"plain with an empty line", "a: x +\n\n   y + here", 3, 8},
		{"single quotes", "a: 'x + here'", 1, 9},
		{"single quotes, escaped", "a: 'x ''y'' + here'", 1, 15},
		{"single quotes over two lines", "a: 'x ''y''\n   + here'", 2, 6},
		{"double quotes", `a: "x + here"`, 1, 9},
		{"double quotes, escaped", `a: "{\"x\",\u0079=\t\x41} + here"`, 1, 29},
		{"double quotes, continued", "a: \"x \\\n  + here\"", 2, 5},
		{"literal block", "a: |\n  x +\n    here\n", 3, 5},
		{"literal block with a comment", "a: |- # here\n\n  x +\n  here\n", 4, 3},
		{"folded block", "a: >\n  x +\n\n  y\n  here\n", 5, 3},
		{"folded block, stripped", "a: >-\n  x + here\n", 2, 7},
		{"characters of several bytes", `a: "{k='äöü'} + here"`, 1, 17},
		{"with an anchor", "a: &anchor x + here", 1, 16},
		{"with a tag and an anchor", "a: !!str &anchor 'x + here'", 1, 23},
		{"block with an anchor", "a: &anchor |\n  x +\n  here", 3, 3},
		{"Windows line ends", "a: |\r\n  x +\r\n  here\r\n", 3, 3},
		{"behind an alias", "b: &b x + here\na: *b", 1, 11},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var into map[string]string
			doc, errs := strictyaml.Decode("f", []byte(tt.given), &into)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			line, col := doc.Locate("a", strings.Index(into["a"], "here"))
			if line != tt.line || col != tt.col {
				t.Errorf("Locate() = %d:%d, want %d:%d", line, col, tt.line, tt.col)
			}
		})
	}
}

func TestLocateEnds(t *testing.T) {
	doc, _ := strictyaml.Decode("f", []byte("a: 'ab c'\nb: ''\nc: {d: x}\n"), new(any))
	tests := []struct {
		name, path string
		offset     int
		line, col  int
	}{
		{"behind the last character", "a", 4, 1, 9},
		{"far behind", "a", 400, 1, 9},
		{"negative", "a", -1, 1, 5},
		{"white space", "a", 2, 1, 8},
		{"empty", "b", 0, 2, 4},
		{"mapping", "c", 3, 3, 1},
		{"missing", "z", 3, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := doc.ErrorAt(tt.path, tt.offset, "text")
			if e.Line != tt.line || e.Col != tt.col {
				t.Errorf("ErrorAt(%q, %d) = %d:%d, want %d:%d", tt.path, tt.offset, e.Line, e.Col, tt.line, tt.col)
			}
		})
	}
}

func TestRedacted(t *testing.T) {
	secret := func(path, key string) bool {
		return key == "password" || key == "tokens" || path == "auth.headers"
	}
	shown := func(list []string) []string {
		out := slices.Clone(list)
		for i := range list {
			out[i] = strings.ReplaceAll(list[i], "hunter2", "<secret>")
			if i > 0 && list[i-1] == "next" {
				out[i] = "<secret>"
			}
		}
		return out
	}
	tests := []struct{ name, given, want string }{
		{"scalar", "user: a\npassword: hunter2 # or hunter3\n", "user: a\npassword: <secret>\n"},
		{"not expanded", "user: ${USER}\n", "user: ${USER}\n"},
		{"block scalar", "password: |\n  hunter2\n  more\n", "password: <secret>\n"},
		{"list", "tokens: [a, {b: c}]\n", "tokens: [<secret>, {b: <secret>}]\n"},
		{"by path", "auth: {headers: {x: y}}\nheaders: {x: y}\n", "auth: {headers: {x: <secret>}}\nheaders: {x: y}\n"},
		{"empty stays empty", "password:\n", "password:\n"},
		{"a text that is not shown as it is", "a: x-hunter2\n", "a: x-<secret>\n"},
		{"a key", "x-hunter2: a\n", "x-<secret>: a\n"},
		{"in quotes", "a: ['x-hunter2']\n", "a: ['x-<secret>']\n"},
		{"with a tag", "a: !!str x-hunter2\n", "a: x-<secret>\n"},
		{"a list at once", "a: [b, next, hunter3, {c: hunter3}]\n", "a: [b, next, <secret>, {c: hunter3}]\n"},
		{"a number of a list", "a: [next, 12]\n", "a: [next, <secret>]\n"},
		{"alias in a list", "a: &n hunter3\nb: [next, *n]\n", "a: &n <secret>\nb: [next, *n]\n"},
		{"alias in two lists", "a: [next, &n hunter2]\nb: [c, *n]\n", "a: [next, &n <secret>]\nb: [c, *n]\n"},
		{"alias that is secret", "name: &n a\npassword: *n\n", "name: &n <secret>\npassword: *n\n"},
		{"merged", "a: &b {password: x}\nc:\n  <<: *b\n", "a: &b {password: <secret>}\nc:\n    <<: *b\n"},
		{"merged under a secret path", "a: &b {x: y}\nauth:\n  headers:\n    <<: [*b]\n", "a: &b {x: <secret>}\nauth:\n    headers:\n        <<: [*b]\n"},
		{"number", "password: 12\n", "password: <secret>\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, errs := strictyaml.Decode("f", []byte(tt.given), new(any))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(tt.want, string(doc.Redacted(secret, shown))); diff != "" {
				t.Errorf("Redacted() differs (-want +got):\n%s", diff)
			}
		})
	}
}

func ExampleDecode() {
	var config struct {
		Listen []struct {
			Port uint16 `yaml:"port"`
		} `yaml:"listen"`
	}
	doc, errs := strictyaml.Decode("app.yml", []byte("listen:\n  - port: 80\n  - prot: 81\n"), &config)
	for _, e := range errs {
		fmt.Println(e)
	}
	if config.Listen[0].Port < 1024 {
		fmt.Println(doc.Errorf("listen[0].port", "port %d is privileged", config.Listen[0].Port))
	}
	// Output:
	// app.yml:3:5: listen[1]: unknown key "prot", did you mean "port"?
	// app.yml:2:11: listen[0].port: port 80 is privileged
}
