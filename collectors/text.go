package collectors

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes text of others fit to be shown: one line of valid UTF-8 without
// control characters, at most limit bytes.
func OneLine(text string, limit int) string {
	// What is beyond the limit cannot show in the result, so it is not looked at.
	text = strings.ToValidUTF8(cutRunes(text, limit), string(utf8.RuneError))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(cutRunes(text, limit))
}

// cutRunes returns at most limit bytes of text and does not cut a rune in two.
func cutRunes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// MaxReason is the length in bytes at which a reason is cut.
const MaxReason = 512

// MaxNote is the length in bytes at which a note is cut.
const MaxNote = 200

// ShortNote cuts a note at the 200 bytes that Noter allows.
func ShortNote(text string) string {
	const most = MaxNote
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// Either returns yes if holds, else no.
func Either(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}
