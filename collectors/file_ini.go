package collectors

import (
	"strings"
	"unicode"
)

// parseINI reads the dialect that oslo.config understands
// (https://opendev.org/openstack/oslo.config, oslo_config/iniparser.py): a comment is
// a line that begins with # or ;, an indented line continues the value above it,
// the first = or : ends the name of an option, and no section inherits from DEFAULT.
func parseINI(data []byte) (func(fileKey) bool, *fileMistake) {
	p := iniParser{sections: make(map[string]map[string]bool)}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if problem := p.line(strings.TrimRightFunc(line, unicode.IsSpace)); problem != "" {
			return nil, &fileMistake{line: number, text: "not valid INI: " + problem}
		}
	}
	return p.has, nil
}

type iniParser struct {
	sections map[string]map[string]bool
	// section is the one that options lie in; nil before the first.
	section map[string]bool
	// open is whether an indented line continues a value.
	open bool
}

// line takes a line without the white space at its end, and returns what is wrong
// with it.
func (p *iniParser) line(line string) (problem string) {
	switch {
	case line == "", line[0] == '#', line[0] == ';':
		p.open = false
		return ""
	case line[0] == ' ', line[0] == '\t':
		if !p.open {
			return "an indented line that continues nothing"
		}
		return ""
	case line[0] == '[':
		return p.begin(line)
	}
	i := strings.IndexAny(line, "=:")
	switch {
	case i < 0:
		return `no "=" or ":": expected "name = value"`
	case strings.TrimSpace(line[:i]) == "":
		return `no name before the "=" or ":"`
	case p.section == nil:
		return "an option before the first section"
	}
	p.section[strings.TrimSpace(line[:i])] = true
	p.open = true
	return ""
}

// begin starts a section.
func (p *iniParser) begin(line string) (problem string) {
	p.open = false
	name, ok := strings.CutSuffix(line[1:], "]")
	if !ok || name == "" {
		return `a section that is not "[name]"`
	}
	name = iniSection(name)
	if p.sections[name] == nil {
		p.sections[name] = make(map[string]bool)
	}
	p.section = p.sections[name]
	return ""
}

func (p *iniParser) has(key fileKey) bool {
	return len(key) == 2 && p.sections[iniSection(key[0].name)][key[1].name]
}

// iniSection is the name under which oslo.config knows a section: only DEFAULT has
// a case. Names of options count as they are written, so that - and _ differ.
func iniSection(name string) string {
	if name == "DEFAULT" {
		return name
	}
	return strings.ToLower(name)
}
