// Package text bounds text that other programs or people wrote, so that it fits into
// answers, logs and messages.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line of at most limit bytes: control characters become spaces,
// invalid UTF-8 is replaced, and what is too long ends with "...".
func Line(s string, limit int) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(clean) <= limit {
		return clean
	}
	cut := limit - len("...")
	for cut > 0 && !utf8.RuneStart(clean[cut]) {
		cut--
	}
	return clean[:cut] + "..."
}

// Clip returns s as valid UTF-8 of at most limit bytes, which keeps its line ends. What
// is too long ends with "...".
func Clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len("...")], "") + "..."
}

// Count returns a number with its noun: "1 rule", "2 rules".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
