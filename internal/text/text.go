// Package text prepares text for messages: bounded, on one line, in the plural.
package text

import (
	"strconv"
	"strings"
	"unicode"
)

// Clip returns s as valid UTF-8 of at most limit bytes. A longer text ends in "...",
// and no character is cut in two. The limit is at least 3.
func Clip(s string, limit int) string {
	const dots = "..."
	s = strings.ToValidUTF8(s, string(unicode.ReplacementChar))
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len(dots)], "") + dots
}

// OneLine returns s as valid UTF-8 on one line. Control characters become
// spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// Line returns s on one line of at most limit bytes: OneLine, then Clip.
func Line(s string, limit int) string { return Clip(OneLine(s), limit) }

// Plural returns n and the noun, which gets an s unless n is 1.
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
