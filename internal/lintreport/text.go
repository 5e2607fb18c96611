package lintreport

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules/lint"
)

// maxShown bounds the characters of a line in the output. Of a longer line, those around
// the finding are shown.
const maxShown = 140

// text writes the findings like a compiler, each with its line.
func (r *Report) text(w io.Writer) error {
	b := bufio.NewWriter(w)
	lines := map[string][]string{}
	for name, text := range r.Sources {
		lines[name] = strings.Split(string(text), "\n")
	}
	for _, f := range r.shown() {
		severity := f.Severity.String()
		if f.Accepted != "" {
			severity = "accepted"
		}
		fmt.Fprintf(b, "%s%s %s %s: %s\n", harmless(place(f)), severity, f.Code, f.Name, harmless(message(f)))
		if of := lines[f.File]; f.Line > 0 && f.Line <= len(of) && strings.TrimSpace(of[f.Line-1]) != "" {
			excerpt(b, of[f.Line-1], f)
		}
		if f.Accepted != "" {
			fmt.Fprintf(b, "  reason: %s\n", harmless(f.Accepted))
		} else if f.Cure != "" {
			fmt.Fprintf(b, "  cure: %s\n", harmless(f.Cure))
		}
	}
	return b.Flush()
}

// place returns the position of a finding with a trailing colon, or "".
func place(f lint.Finding) string {
	switch {
	case f.File == "":
		return ""
	case f.Line == 0:
		return f.File + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Col)
}

// excerpt shows the line with a caret below the column.
func excerpt(w io.Writer, line string, f lint.Finding) {
	shown := []rune(harmless(strings.TrimRight(line, " \r")))
	at := min(max(f.Col-1, 0), len(shown))
	if len(shown) > maxShown {
		from := min(max(at-maxShown/2, 0), len(shown)-maxShown)
		shown, at = shown[from:from+maxShown], at-from
	}
	margin := fmt.Sprintf("%5d | ", f.Line)
	fmt.Fprintf(w, "%s%s\n%s| %s^\n", margin, string(shown), strings.Repeat(" ", len(margin)-2), strings.Repeat(" ", at))
}

// harmless replaces characters that move a terminal's cursor or reverse its text, because
// files may come from untrusted sources.
func harmless(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n':
			return ' '
		case text.Invisible(c):
			return unicode.ReplacementChar
		}
		return c
	}, s)
}
