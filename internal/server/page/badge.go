package page

import (
	"fmt"
	"html"
	"unicode/utf8"
)

// Color returns the color of a verdict in badges and icons: white text on it has a contrast of 4.5
// or more. It is empty for a word that is no verdict.
func Color(verdict string) string {
	return map[string]string{"pass": "#17703f", "warn": "#875400", "fail": "#b3201a"}[verdict]
}

// Badge draws a badge with a name at the left and a word at the right.
func Badge(name, word, color string) []byte {
	// 6.5 is about the width of a character of this font at 11 pixels.
	width := func(s string) int { return 12 + int(6.5*float64(utf8.RuneCountInString(s))) }
	left, right := width(name), width(word)
	label := html.EscapeString(name)
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s"><title>%[2]s: %[3]s</title>`+
		`<clipPath id="r"><rect width="%[1]d" height="20" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="%[4]d" height="20" fill="#3b444d"/><rect x="%[4]d" width="%[5]d" height="20" fill="%[6]s"/></g>`+
		`<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="%[7]d" y="14">%[2]s</text><text x="%[8]d" y="14">%[3]s</text></g></svg>
`, left+right, label, word, left, right, color, left/2, left+right/2)
}
