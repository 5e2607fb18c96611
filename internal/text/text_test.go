package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vitals-health/vitals/internal/text"
)

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		name, given string
		limit       int
		want        string
	}{
		{"empty", "", 3, ""},
		{"shorter than the limit", "abc", 4, "abc"},
		{"as long as the limit", "abcd", 4, "abcd"},
		{"longer than the limit", "abcde", 4, "a..."},
		{"the smallest limit", "abcde", 3, "..."},
		{"a character at the cut", "aé漢字", 7, "aé..."},
		{"a character of four bytes at the cut", "a\U0001F600bcd", 7, "a..."},
		{"invalid UTF-8", "a\xff\xfeb", 9, "a\uFFFDb"},
		{"invalid UTF-8 beyond the limit", "abc\xff\xff", 4, "a..."},
		{"control characters stay", "a\nb", 9, "a\nb"},
	} {
		if got := text.Clip(tt.given, tt.limit); got != tt.want {
			t.Errorf("%s: Clip(%q, %d) = %q, want %q", tt.name, tt.given, tt.limit, got, tt.want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name, given string
		limit       int
		want        string
	}{
		{"one line", "all is well", 80, "all is well"},
		{"several lines", "\r\na\nb\tc\x00\x7f\u0085d\n", 80, "  a b c   d "},
		{"invalid UTF-8", "a\xffb", 80, "a\uFFFDb"},
		{"longer than the limit", "  abcdef", 6, "  a..."},
	} {
		if got := text.Line(tt.given, tt.limit); got != tt.want {
			t.Errorf("%s: Line(%q, %d) = %q, want %q", tt.name, tt.given, tt.limit, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
	if got, want := text.Short("\x00 abcdefgh \n", 7), "abcd..."; got != want {
		t.Errorf("Short() = %q, want %q", got, want)
	}
	if got, want := text.Short(" a\nb\r\n", 7), "a b"; got != want {
		t.Errorf("Short() = %q, want %q", got, want)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\nb\xff", 3)
	f.Add(strings.Repeat("漢", 50), 40)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(3, limit)
		got := text.Line(s, limit)
		if len(got) > limit || !utf8.ValidString(got) || strings.ContainsFunc(got, text.Invisible) {
			t.Errorf("Line(%q, %d) = %q, want valid UTF-8 on one line of at most %d bytes", s, limit, got, limit)
		}
	})
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 rules", 1: "1 rule", 2: "2 rules"} {
		if got := text.Plural(n, "rule"); got != want {
			t.Errorf("Plural(%d, \"rule\") = %q, want %q", n, got, want)
		}
	}
}

func ExampleLine() {
	fmt.Println(text.Line("dial tcp 10.0.0.1:5000:\n\tconnection refused", 40))
	// Output: dial tcp 10.0.0.1:5000:  connection r...
}

func TestDistance(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"state", "state", 0},
		{"", "mode", 4},
		{"mode", "", 4},
		{"satte", "state", 1},
		{"sate", "state", 1},
		{"statte", "state", 1},
		{"stage", "state", 1},
		{"status", "state", 2},
		{"sumamry", "summary", 1},
		{"ba", "ab", 1},
		{"cab", "abc", 2},
		{"ca", "abc", 3},
		{"abcdef", "badcfe", 3},
		{"kitten", "sitting", 3},
		{"", "abc", 3}, {"kitten", "sitting", 3}, {"timout", "timeout", 1}, {"same", "same", 0}, {"fales", "false", 1}, {long, long, 130},
	} {
		if got := text.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestInvisible(t *testing.T) {
	for _, tt := range []struct{ name, given, line, visible string }{
		{"plain text", "a ~ b", "a ~ b", "a ~ b"},
		{"other scripts", "déjà 健康 é̂", "déjà 健康 é̂", "déjà 健康 é̂"},
		{"line feed and tab", "a\nb\tc", "a b c", "a\nb\tc"},
		{"a carriage return and an escape sequence", "a\rb\x1b[31m", "a b [31m", "a b [31m"},
		{"DEL and C1", "a\x7fb\u0085c\u009bd", "a b c d", "a b c d"},
		{"separators of lines and paragraphs", "a\u2028b\u2029c", "a b c", "a b c"},
		{"overrides and embeddings of direction", "a\u202eb\u202ac\u202cd", "a b c d", "a b c d"},
		{"isolates and marks of direction", "a\u2066b\u2069c\u200fd\u061ce", "a b c d e", "a b c d e"},
		{"no width", "a\u200bb\u200dc\u2060d\ufeffe\u00adf", "a b c d e f", "a b c d e f"},
		{"fillers", "a\u3164b\u115fc\uffa0d", "a b c d", "a b c d"},
		{"tags and annotations", "a\U000e0041b\ufff9c", "a b c", "a b c"},
		{"invalid bytes", "a\xffb\xc2", "a\ufffdb\ufffd", "a\ufffdb\ufffd"},
		{"empty", "", "", ""},
	} {
		if got := text.OneLine(tt.given); got != tt.line {
			t.Errorf("%s: OneLine(%q) = %q, want %q", tt.name, tt.given, got, tt.line)
		}
		if got := text.Visible(tt.given); got != tt.visible {
			t.Errorf("%s: Visible(%q) = %q, want %q", tt.name, tt.given, got, tt.visible)
		}
	}
}
