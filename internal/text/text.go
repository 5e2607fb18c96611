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

// OneLine returns s as valid UTF-8 on one line. Invisible characters become spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if Invisible(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// Visible returns s as OneLine does, and keeps its line feeds and tabs.
func Visible(s string) string {
	if plain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Invisible(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// Invisible reports whether a character changes how the text around it is shown, or hides in
// it: control characters, those that set the direction of the text, line and paragraph
// separators, and characters without a width. Source: Unicode 15, table 4-4 and PropList.txt.
func Invisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r < 0xa0:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// plain reports whether s consists of visible ASCII characters, line feeds and tabs.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Line returns s on one line of at most limit bytes: OneLine, then Clip.
func Line(s string, limit int) string { return Clip(OneLine(s), limit) }

// Short returns s as Line does, without white space at both ends.
func Short(s string, limit int) string { return Clip(strings.TrimSpace(OneLine(s)), limit) }

// Plural returns n and the noun, which gets an s unless n is 1.
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Distance returns the least number of bytes to insert, delete or replace, and of neighbours
// to swap, that turns a into b. Texts of more than 64 bytes are never similar: their distance
// is the sum of their lengths.
func Distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return len(a) + len(b)
	}
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost++
			}
			next[j+1] = min(cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// Either returns yes if holds, else no.
func Either(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}
