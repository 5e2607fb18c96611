package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// span is a part of a text to hide.
type span struct{ from, to int }

var (
	// userinfo is the part of a URL between its scheme and the last "@": greedy, so that
	// a password with a slash in it is hidden whole.
	userinfo = regexp.MustCompile(`://([^\s"'<>]*)@`)
	// pair is a name, the separator and the opening quote of the value.
	pair = regexp.MustCompile(`([A-Za-z0-9_.%\[\]-]+)(?:\\?["'])?(=|[ \t]*:[ \t]*)(\\?["'])?`)
	// assignment is an argument of the form name=value.
	assignment = regexp.MustCompile(`(?s)^(-{0,2}[A-Za-z][A-Za-z0-9_.-]*)=(.+)$`)
	// option is an option and its value in one text, as in a shell command.
	option = regexp.MustCompile(`(?:^|\s)(--?[A-Za-z][A-Za-z0-9_.-]*)[ \t]+("[^"]*"|'[^']*'|\S+)`)
	// login is a login command of POP3, IMAP (with its tag), SMTP, Redis or memcached.
	login = regexp.MustCompile(`(?i)^(?:\S{1,10} )?(?:AUTH|AUTHENTICATE|PASS|LOGIN) +(.+)$`)
)

// element returns the spans to hide in an element of a list.
func element(list []string, i int) []span {
	text := list[i]
	if i > 0 && text != "" && strings.HasPrefix(list[i-1], "-") {
		if Name(list[i-1]) && !strings.Contains(list[i-1], "=") {
			return []span{{0, len(text)}}
		}
		if user, _, ok := strings.Cut(text, ":"); ok && slices.Contains([]string{"-u", "-U", "--user", "--proxy-user"}, list[i-1]) {
			return []span{{len(user) + 1, len(text)}}
		}
	}
	if m := assignment.FindStringSubmatchIndex(text); m != nil && Name(text[m[2]:m[3]]) {
		return []span{{m[4], m[5]}}
	}
	return spans(text, true)
}

// spans returns the spans to hide in a text. In a text from a configuration (configured)
// a colon is the separator of a header; elsewhere it may be punctuation.
func spans(text string, configured bool) []span {
	found := pairs(text, configured)
	for _, m := range userinfo.FindAllStringSubmatchIndex(text, -1) {
		found = append(found, span{m[2], m[3]})
	}
	if configured {
		for _, m := range option.FindAllStringSubmatchIndex(text, -1) {
			if Name(text[m[2]:m[3]]) {
				found = append(found, span{m[4], m[5]})
			}
		}
	}
	return found
}

// pairs returns the values of pairs.
func pairs(text string, configured bool) []span {
	var found []span
	for at := 0; ; {
		m := pair.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return found
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		name, colon := text[m[2]:m[3]], text[m[4]:m[5]] != "="
		query := m[2] > 0 && strings.ContainsRune("?&", rune(text[m[2]-1]))
		at = m[5]
		if colon && !configured || !Name(name) && !(query && strings.EqualFold(name, "key")) {
			continue
		}
		quote := ""
		if m[6] >= 0 {
			quote = text[m[6]:m[7]]
		}
		end := m[1] + valueEnd(text[m[1]:], quote, colon)
		if value := text[m[1]:end]; value == "" || value[0] == '=' || colon && quote == "" && (strings.HasPrefix(value, "//") || strings.ContainsAny(value[:1], "{[")) {
			continue // empty, a comparison, a URL or a structure
		}
		found = append(found, span{m[1], end})
		at = end
	}
}

// valueEnd returns the end of a value: the closing quote or, without quotes, the end of
// the header's line, of the parameter or of the word.
func valueEnd(text, quote string, colon bool) int {
	end := -1
	switch {
	case quote != "":
		end = strings.Index(text, quote)
	case colon:
		end = strings.IndexAny(text, "\"'\r\n")
	default:
		end = strings.IndexAny(text, "\"'& \t\r\n")
	}
	if end < 0 {
		return len(text)
	}
	return end
}

// replace replaces spans by Hidden. Spans may overlap.
func replace(text string, hidden []span) string {
	if len(hidden) == 0 {
		return text
	}
	slices.SortFunc(hidden, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := 0
	for _, s := range hidden {
		if s.to <= at {
			continue
		}
		if s.from >= at {
			b.WriteString(text[at:s.from])
			b.WriteString(Hidden)
		}
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}
