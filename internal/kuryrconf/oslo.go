package kuryrconf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// defaults is the only section whose name has a case.
const defaults = "DEFAULT"

// assignment is one "key = value" of a file. A value of several lines has them
// joined by newlines.
type assignment struct {
	value string
	line  int // counts from 1
}

// file is the assignments by section and key. Names of sections are in lower case,
// except DEFAULT; names of keys are as they are written.
type file map[string]map[string]assignment

// mistake is something wrong in a line. It never holds the line itself, which may
// be a password.
type mistake struct {
	line int
	text string
}

// parser reads the dialect of INI that oslo.config understands
// (https://docs.openstack.org/oslo.config/latest/reference/index.html): a comment
// is a line that begins with # or ;, an indented line continues the value before
// it, the first = or : ends the key, one pair of quotes around a value is dropped,
// and the last assignment of a key holds.
type parser struct {
	file     file
	mistakes []mistake

	section string
	mute    bool   // whether it has been said that options lie in no section
	key     string // of the value that an indented line would continue
	lost    bool   // whether the value before was a mistake, and so its continuation
}

// parse reads a file and returns every mistake in it.
func parse(text string) (file, []mistake) {
	p := &parser{file: make(file)}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if !utf8.ValidString(line) {
			p.fail(number, "bytes that are not UTF-8: expected a text file")
			continue
		}
		p.line(number, strings.TrimRightFunc(line, unicode.IsSpace))
	}
	return p.file, p.mistakes
}

func (p *parser) line(number int, line string) {
	switch {
	case line == "":
		p.key, p.lost = "", false
	case line[0] == ' ' || line[0] == '\t':
		p.resume(number, strings.TrimLeftFunc(line, unicode.IsSpace))
	case line[0] == '#' || line[0] == ';':
		p.key, p.lost = "", false
	case line[0] == '[':
		p.begin(number, line)
	default:
		p.assign(number, line)
	}
}

// begin starts a section.
func (p *parser) begin(number int, line string) {
	p.key, p.lost = "", false
	name, ok := strings.CutSuffix(line[1:], "]")
	if !ok || name == "" {
		// What follows belongs to no section that could be named.
		p.section, p.mute = "", true
		p.fail(number, `bad section: expected "[name]" and nothing behind it`)
		return
	}
	p.section = normal(name)
	if p.file[p.section] == nil {
		p.file[p.section] = make(map[string]assignment)
	}
}

// normal is the name under which a section is known.
func normal(section string) string {
	if section == defaults {
		return section
	}
	return strings.ToLower(section)
}

// assign takes a "key = value".
func (p *parser) assign(number int, line string) {
	p.key = ""
	i := strings.IndexAny(line, "=:")
	switch {
	case i < 0:
		p.fail(number, `no "=" or ":": expected a section, "key = value", a comment or, indented, more of the value above`)
	case strings.TrimSpace(line[:i]) == "":
		p.fail(number, `no key before the "=" or ":": expected "key = value"`)
	case p.section == "":
		if !p.mute {
			p.fail(number, "an option before the first section: expected [DEFAULT] or another section above it")
		}
		p.mute, p.lost = true, true
	default:
		p.key, p.lost = strings.TrimSpace(line[:i]), false
		p.file[p.section][p.key] = assignment{value: unquote(strings.TrimSpace(line[i+1:])), line: number}
	}
}

// resume takes an indented line.
func (p *parser) resume(number int, line string) {
	if p.key == "" {
		if !p.lost {
			p.fail(number, "an indented line that continues nothing: expected no space at its start, or an option right above it")
		}
		return
	}
	a := p.file[p.section][p.key]
	a.value += "\n" + line
	p.file[p.section][p.key] = a
}

func (p *parser) fail(line int, text string) {
	p.mistakes = append(p.mistakes, mistake{line, text})
	p.lost = true
}

// unquote drops one pair of quotes around a value. A quote that is alone counts as
// a pair, as in oslo.config.
func unquote(value string) string {
	if value == "" || value[0] != value[len(value)-1] || value[0] != '"' && value[0] != '\'' {
		return value
	}
	return value[1:max(1, len(value)-1)]
}
