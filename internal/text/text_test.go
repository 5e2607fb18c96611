package text_test

import (
	"testing"

	"github.com/vitals-health/vitals/internal/text"
)

func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		in         string
		limit      int
		line, clip string
	}{
		{"short", 5, "short", "short"},
		{"longer", 5, "lo...", "lo..."},
		{"two\nlines", 20, "two lines", "two\nlines"},
		{"\x1b[31mred", 20, " [31mred", "\x1b[31mred"},
		{"no\xffUTF-8", 20, "no\uFFFDUTF-8", "no?UTF-8"},
		{"a\u00e9\u00e9\u00e9", 6, "a\u00e9...", "a\u00e9..."},
		{"ab\u00e9\u00e9", 5, "ab...", "ab..."},
	} {
		if got := text.Line(tt.in, tt.limit); got != tt.line {
			t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.line)
		}
		if got := text.Clip(tt.in, tt.limit); got != tt.clip {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.clip)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rules", 1: "1 rule", 2: "2 rules"} {
		if got := text.Count(n, "rule"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
