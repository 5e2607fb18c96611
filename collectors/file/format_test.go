package file

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// check parses a content and returns the keys that it has, or its mistake.
func check(format, content string, keys ...string) string {
	parsed, wrong := parseFormat(format, []byte(content))
	if wrong != nil {
		return wrong.In("f")
	}
	var present []string
	for _, text := range keys {
		if key, err := ParseKey(text); err != nil {
			present = append(present, err.Error())
		} else if parsed.has(key) {
			present = append(present, text)
		}
	}
	return strings.Join(present, " ")
}

func TestKeys(t *testing.T) {
	name := func(name string) step { return step{name, -1} }
	tests := []struct {
		text string
		want Key
	}{
		{"cniVersion", Key{name("cniVersion")}},
		{"plugins.0.type", Key{name("plugins"), {"0", 0}, name("type")}},
		{"DEFAULT.use-syslog", Key{name("DEFAULT"), name("use-syslog")}},
		{`a."b.c/d".e`, Key{name("a"), name("b.c/d"), name("e")}},
		{`'a"b'."c'd"`, Key{name(`a"b`), name(`c'd`)}},
		{`"0".00.-1.1e1`, Key{name("0"), name("00"), name("-1"), name("1e1")}},
		{`"".a`, Key{name(""), name("a")}},
		{"a b.c", Key{name("a b"), name("c")}},
		{"99999999999999999999", Key{name("99999999999999999999")}},
	}
	for _, tt := range tests {
		got, err := ParseKey(tt.text)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(step{})); diff != "" || err != nil {
			t.Errorf("ParseKey(%s) = %v (-want +got):\n%s", tt.text, err, diff)
		}
	}
	for _, text := range []string{"", ".", "a.", ".a", "a..b", `"a`, `"a"b`, `a"b"`, `a.b'`, `"a".`, `'a"`} {
		if key, err := ParseKey(text); err == nil {
			t.Errorf("ParseKey(%s) = %v, want an error", text, key)
		}
	}
}

func TestJSON(t *testing.T) {
	const conflist = `{
  "cniVersion": "0.3.1",
  "plugins": [{"type": "kuryr-cni", "debug": null, "dns.x": {"0": []}}]
}`
	tests := []struct{ name, content, keys, want string }{
		{"keys", conflist, `cniVersion plugins plugins.0 plugins.0.type plugins.0.debug plugins.0."dns.x" plugins.0."dns.x".0`,
			`cniVersion plugins plugins.0 plugins.0.type plugins.0.debug plugins.0."dns.x" plugins.0."dns.x".0`},
		{"no keys", conflist, `cniversion plugins.1 plugins.type plugins."0" plugins.00 plugins.0.type.x plugins.0."dns.x".0.0 plugins.0.dns.x`, ""},
		{"list", `[[1], {"a": 1}]`, "0 0.0 1.a 2 a", "0 0.0 1.a"},
		{"scalar", "3", "0 a", ""},
		{"escaped name", `{"\u0061": 1}`, "a", "a"},
		{"large number", "1e999", "", ""},
		{"white space around it", " \n{}\r\n\t", "", ""},
		{"empty", "", "", "f:1:1: not valid JSON"},
		{"blank", " \n ", "", "f:2:1: not valid JSON"},
		{"cut off", "{\n  \"a\": [1,\n", "", "f:2:11: not valid JSON"},
		{"comment", "{} // x", "", "f:1:4: not valid JSON"},
		{"behind the value", "{}\n{}", "", "f:2:1: not valid JSON"},
		{"comma at the end", `{"a": 1,}`, "", "f:1:9: not valid JSON"},
		{"not a number", "[NaN]", "", "f:1:2: not valid JSON"},
		{"byte order mark", "\ufeff{}", "", "f:1:1: not valid JSON"},
		{"name twice", "{\"ä\": 1,\n \"é\": 1, \"ä\": 2}", "", "f:2:10: not valid JSON: a name appears twice in an object"},
		{"name twice, escaped", `[{"a":1,"\u0061":2}]`, "", "f:1:9: not valid JSON: a name appears twice in an object"},
		{"same name in two objects", `[{"a": {"a": 1}}, {"a": 2}]`, "0.a.a 1.a", "0.a.a 1.a"},
		{"not UTF-8", "{\"a\": \"ä\xff\"}", "", "f:1:9: bytes that are not UTF-8: expected a text file"},
		{"nested too deep", strings.Repeat("[", 100_000), "", "f:1:10001: not valid JSON"},
	}
	for _, tt := range tests {
		if got := check(formatJSON, tt.content, strings.Fields(tt.keys)...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestYAML(t *testing.T) {
	const block = ": not valid YAML, at this line or in the block that begins there"
	tests := []struct{ name, content, keys, want string }{
		{"keys", "a:\n  - b: {c.d: }\n1: x\nyes: y", `a a.0.b a.0.b."c.d" 1 yes`, `a a.0.b a.0.b."c.d" 1 yes`},
		{"no keys", "a:\n  - b: {c.d: }", `b a.b a.1 a.0.b.c a."0" a.0.b."c.d".e`, ""},
		{"JSON", `{"a": [{"b": null}]}`, "a.0.b", "a.0.b"},
		{"several documents", "---\na: 1\n---\nb: {c: 2}\n...\n", "a b.c c a.c", "a b.c"},
		{"empty", "", "a", ""},
		{"comment only", "# a: 1\n", "a", ""},
		{"empty documents", "---\n---\n", "a 0", ""},
		{"scalar", "a", "a 0", ""},
		{"alias", "x: &x {b: [1]}\na: *x\n", "a.b.0", "a.b.0"},
		{"alias as a key", "x: &x b\n*x : 1\n", "b", "b"},
		{"merged", "x: &x {b: 1}\ny: &y {c: 1, <<: *x}\na: {<<: *y}\nz: {<<: [*x, {d: 1}]}", "a.b a.c z.b z.d a.d a.<< z.0", "a.b a.c z.b z.d"},
		{"merged without an alias", "a: {<<: {b: 1}}", "a.b", "a.b"},
		{"merge key in quotes", "a: {'<<': 1}", "a.<< a.b", "a.<<"},
		{"alias of itself", "a: &a {b: *a}\n", "a.b.b.b a.b.c", "a.b.b.b"},
		{"merged into itself", "a: &a {<<: *a, b: 1}\n", "a.b a.c", "a.b"},
		{"list that holds itself, merged", "a: &a [*a]\nb: {<<: *a}", "b.c", ""},
		{"byte order mark", "\ufeffa: 1", "a", "a"},
		{"key twice", "a: 1\nb:\n  c: 1\n  d: 1\n  c: 2\n", "", "f:5:3: not valid YAML: a key appears twice in a mapping"},
		{"key twice, quoted", "{a: 1, 'a': 2}", "", "f:1:8: not valid YAML: a key appears twice in a mapping"},
		{"key twice, by an alias", "{&a x: 1, *a : 2}", "", "f:1:11: not valid YAML: a key appears twice in a mapping"},
		{"keys of two types", "{1: a, '1': b}", "1", "1"},
		{"key of a mapping", "? {a: 1}\n: b\n? {a: 1}\n: c\n", "a", ""},
		{"merged key again", "x: &x {b: 1}\na: {<<: *x, b: 2}", "a.b", "a.b"},
		{"two mappings in a line", "a: b: c\n", "", "f:1" + block},
		{"value of nothing", "a: 1\nb\n", "", "f:2" + block},
		{"bracket that stays open", "a: 1\nb: [1,\nc: 2\n", "", "f:2" + block},
		{"tab", "a:\n\tb: 1\n", "", "f:2" + block},
		{"second document", "a: 1\n---\nb: c: d\n", "", "f:3" + block},
		{"missing anchor", "a: *b\n", "", "f: not valid YAML: an alias without its anchor"},
		{"control character", "a: \x00\n", "", "f: not valid YAML: a control character"},
		{"not UTF-8", "a: 1\nb: \xe4\n", "", "f:2:4: bytes that are not UTF-8: expected a text file"},
	}
	for _, tt := range tests {
		if got := check(formatYAML, tt.content, strings.Fields(tt.keys)...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A text that would expand to 10^30 entries is searched at once.
func TestYAMLAliasBomb(t *testing.T) {
	content := "l0: &l0 [x]\nm0: &m0 {x: 1}\n"
	for i := range 30 {
		ten := func(name string) string { return strings.Repeat(fmt.Sprintf("*%s%d, ", name, i), 10) }
		content += fmt.Sprintf("l%d: &l%d [%s]\nm%d: &m%d {<<: [%s]}\n", i+1, i+1, ten("l"), i+1, i+1, ten("m"))
	}
	if got, want := check(formatYAML, content, "l30.9.9.0", "m30.x", "m30.y"), "l30.9.9.0 m30.x"; got != want {
		t.Errorf("keys %q, want %q", got, want)
	}
}

func TestINI(t *testing.T) {
	const dialect = "# comment = 1\n; [comment]\n\n[DEFAULT]\r\ndebug = true\r\nuse-syslog: 1\rmulti = a\n  b = c\n\td\n\nempty =\n" +
		"[Neutron]\nauth_url = http://k:5000/=\n[other.section]\na.b = 1\nÄ ö = 1\n[neutron]\npassword = \"\n[ ]\nx=1\n[default]\ny=1\n"
	tests := []struct{ name, content, keys, want string }{
		{"keys", dialect, `DEFAULT.debug DEFAULT.use-syslog DEFAULT.multi DEFAULT.empty neutron.auth_url NEUTRON.password "other.section"."a.b" default.y`,
			`DEFAULT.debug DEFAULT.use-syslog DEFAULT.multi DEFAULT.empty neutron.auth_url NEUTRON.password "other.section"."a.b" default.y`},
		{"no keys", dialect, `default.debug DEFAULT.use_syslog DEFAULT.Debug DEFAULT.b DEFAULT.y neutron.debug neutron.http comment.comment`, ""},
		{"empty", "", "a.b", ""},
		{"option without a section", "# x\na = 1", "", "f:2: not valid INI: an option before the first section: expected [DEFAULT] or another section above it"},
		{"no assignment", "[a]\nb = 1\nsecret\n", "", "f:3: not valid INI: no \"=\" or \":\": expected a section, \"name = value\", a comment or an indented continuation of the value above"},
		{"no name", "[a]\n= 1", "", "f:2: not valid INI: no name before the \"=\" or \":\": expected \"name = value\""},
		{"section that stays open", "[a\n", "", "f:1: not valid INI: bad section: expected \"[name]\" and nothing behind it"},
		{"section without a name", "[]", "", "f:1: not valid INI: bad section: expected \"[name]\" and nothing behind it"},
		{"comment behind a section", "[a] # b", "", "f:1: not valid INI: bad section: expected \"[name]\" and nothing behind it"},
		{"indented option below a section", "[a]\n b = 1", "", "f:2: not valid INI: an indented line that continues nothing: expected no space at its start, or an option right above it"},
		{"indented line below a comment", "[a]\nb = 1\n# c\n d", "", "f:4: not valid INI: an indented line that continues nothing: expected no space at its start, or an option right above it"},
		{"indented line below an empty one", "[a]\nb = 1\n\n d", "", "f:4: not valid INI: an indented line that continues nothing: expected no space at its start, or an option right above it"},
		{"blank line with spaces", "[a]\nb = 1\n  \nc = 1", "a.c", "a.c"},
		{"byte order mark", "\ufeff[a]", "", "f:1: not valid INI: no \"=\" or \":\": expected a section, \"name = value\", a comment or an indented continuation of the value above"},
		{"not UTF-8", "[a]\nb = \xe4\n", "", "f:2:5: bytes that are not UTF-8: expected a text file"},
	}
	for _, tt := range tests {
		if got := check(formatINI, tt.content, strings.Fields(tt.keys)...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The test files of kuryrconf are valid INI here, too.
func TestINIReadsKuryrConf(t *testing.T) {
	const dir = "../../internal/profiles/kuryrconf/testdata"
	for file, want := range map[string]string{
		"complete.conf": "kubernetes.api_root neutron.auth_url",
		"dialect.conf":  "kubernetes.api_root",
		"empty.conf":    "",
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if got := check(formatINI, string(data), "kubernetes.api_root", "neutron.auth_url", "neutron.nothing"); got != want {
			t.Errorf("%s: keys %q, want %q", file, got, want)
		}
	}
}

// FuzzFormats checks properties of every format that hold for all texts.
func FuzzFormats(f *testing.F) {
	for _, content := range []string{"", "{}", `{"a": [1, {"b": "c"}], "a": 2}`, "a: &a [*a]\n---\nb: {<<: [{c: 1}]}\n", "[DEFAULT]\na = b\n c\n[s]\nx:1\n", "a: b: c", "\xff", "\ufeff[a]", "? {a: 1}\n: b"} {
		f.Add(content, "a.1.b")
	}
	texts := []string{
		"not valid JSON", "not valid JSON: a name appears twice in an object",
		"not valid YAML: an alias without its anchor", "not valid YAML: a control character", "not valid YAML: a key appears twice in a mapping",
		"not valid YAML, at this line or in the block that begins there", "bytes that are not UTF-8: expected a text file",
	}
	f.Fuzz(func(t *testing.T, content, text string) {
		for _, format := range keyedFormats() {
			parsed, wrong := parseFormat(format, []byte(content))
			if format == formatJSON && utf8.ValidString(content) {
				twice := wrong != nil && strings.Contains(wrong.Text, "twice")
				if valid := json.Valid([]byte(content)); valid != (wrong == nil || twice) {
					t.Errorf("mistake %v, want json.Valid() = %v", wrong, valid)
				}
			}
			if wrong != nil {
				if lines := strings.Count(content, "\n") + strings.Count(content, "\r") + 2; wrong.Line < 0 || wrong.Line > lines || wrong.col > len(content)+1 {
					t.Errorf("%s: mistake at %d:%d, want it in the file", format, wrong.Line, wrong.col)
				}
				if !slices.Contains(texts, wrong.Text) && !strings.HasPrefix(wrong.Text, "not valid INI: ") {
					t.Errorf("%s: mistake %q, want one of a closed set", format, wrong.Text)
				}
				continue
			}
			key, err := ParseKey(text)
			if err != nil {
				continue
			}
			if got := parsed.has(key); format == formatJSON && got != jsonHas(content, key) {
				t.Errorf("has %s = %v, want %v", text, got, !got)
			}
		}
	})
}

// FuzzParseCrontab checks properties of the counts that hold for all texts.
func FuzzParseCrontab(f *testing.F) {
	for _, content := range []string{"", "# a\nB=c\n* * * * * x\n", "\n\n", "'a'=b", "\"", "\x00=\r", " # a"} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		got := parseCrontab([]byte(content))
		lines := strings.Count(content, "\n") + 1
		if got.active < 0 || got.active > got.uncommented || got.uncommented > lines {
			t.Errorf("parseCrontab(%q) = %+v of %d lines", content, got, lines)
		}
		if more := parseCrontab([]byte("# x\n" + content)); more != got {
			t.Errorf("parseCrontab() with a comment before %q = %+v, want %+v", content, more, got)
		}
		if more := parseCrontab([]byte("@daily x\n" + content)); more.active != got.active+1 || more.uncommented != got.uncommented+1 {
			t.Errorf("parseCrontab() with a job before %q = %+v, want one more than %+v", content, more, got)
		}
	})
}

// jsonHas finds a key in the simplest way.
func jsonHas(content string, key Key) bool {
	var v any
	if json.Unmarshal([]byte(content), &v) != nil {
		return false
	}
	for _, step := range key {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[step.Name]
			if !ok {
				return false
			}
			v = next
		case []any:
			if step.Index < 0 || step.Index >= len(node) {
				return false
			}
			v = node[step.Index]
		default:
			return false
		}
	}
	return true
}
