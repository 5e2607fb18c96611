package oslo

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser is the state between two lines.
type parser struct {
	sections map[string]map[string]Option
	errors   []Error

	section string   // empty before the first section and after a bad one
	name    string   // of the option that an indented line continues; empty for none
	start   int      // the line of that option
	lines   []string // the lines of its value
	// skip suppresses the error for indented lines: the line above is an error already.
	skip bool
	// skipSection suppresses the error for options outside of a section, likewise.
	skipSection bool
}

// Parse reads the text of a file and returns its options and all mistakes, in the order
// of their lines. Time and memory are linear in the length of the text.
func Parse(text string) (File, []Error) {
	p := &parser{sections: make(map[string]map[string]Option)}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if !utf8.ValidString(line) {
			p.fail(number, "bytes that are not UTF-8: expected a text file")
			continue
		}
		p.line(number, strings.TrimRightFunc(line, isSpace))
	}
	p.finish()
	return File{p.sections}, p.errors
}

// isSpace reports whether Python's str.strip removes the character.
func isSpace(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' }

func (p *parser) line(number int, line string) {
	switch {
	case line == "", line[0] == '#', line[0] == ';':
		p.finish()
	case line[0] == ' ', line[0] == '\t':
		p.resume(number, strings.TrimLeftFunc(line, isSpace))
	case line[0] == '[':
		p.begin(number, line)
	default:
		p.assign(number, line)
	}
}

// begin starts a section.
func (p *parser) begin(number int, line string) {
	p.finish()
	name, ok := strings.CutSuffix(line[1:], "]")
	if !ok || name == "" {
		p.section, p.skipSection = "", true
		p.fail(number, `bad section: expected "[name]" and nothing behind it`)
		return
	}
	p.section = normal(name)
	if p.sections[p.section] == nil {
		p.sections[p.section] = make(map[string]Option)
	}
}

// assign reads a line "name = value".
func (p *parser) assign(number int, line string) {
	p.finish()
	i := strings.IndexAny(line, "=:")
	switch {
	case i < 0:
		p.fail(number, `no "=" or ":": expected a section, "name = value", a comment or an indented continuation of the value above`)
	case strings.TrimFunc(line[:i], isSpace) == "":
		p.fail(number, `no name before the "=" or ":": expected "name = value"`)
	case p.section == "":
		if !p.skipSection {
			p.fail(number, "an option before the first section: expected [DEFAULT] or another section above it")
		}
		p.skipSection, p.skip = true, true
	default:
		p.name, p.start = strings.TrimFunc(line[:i], isSpace), number
		p.lines = append(p.lines, unquote(strings.TrimFunc(line[i+1:], isSpace)))
	}
}

// resume reads an indented line.
func (p *parser) resume(number int, line string) {
	if p.name == "" {
		if !p.skip {
			p.fail(number, "an indented line that continues nothing: expected no space at its start, or an option right above it")
		}
		return
	}
	p.lines = append(p.lines, line)
}

// finish stores the option that no more lines continue.
func (p *parser) finish() {
	if p.name != "" {
		p.sections[p.section][p.name] = Option{strings.Join(p.lines, "\n"), p.start}
	}
	p.name, p.lines, p.skip = "", nil, false
}

func (p *parser) fail(line int, text string) {
	p.errors = append(p.errors, Error{line, text})
	p.skip = true
}

// unquote drops one pair of quotes around a value. As in oslo.config, a single quote
// character is a pair.
func unquote(value string) string {
	if value == "" || value[0] != value[len(value)-1] || value[0] != '"' && value[0] != '\'' {
		return value
	}
	return value[1:max(1, len(value)-1)]
}
