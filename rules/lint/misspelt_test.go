package lint

import "testing"

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
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
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
