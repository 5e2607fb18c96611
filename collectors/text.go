package collectors

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine makes text of others fit to be shown: one line of valid UTF-8 without
// control characters, at most limit bytes.
func oneLine(text string, limit int) string {
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

// maxReason is the length in bytes at which a reason is cut.
const maxReason = 512

// maxNote is the length in bytes at which a note is cut.
const maxNote = 200
