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
	options, wrong := readINI(data)
	if wrong != nil {
		return nil, wrong
	}
	return func(key fileKey) bool {
		_, ok := options.find(key)
		return ok
	}, nil
}

// iniOptions are the options of an INI file by their sections.
type iniOptions map[string]map[string]*iniOption

// iniOption is an option where it was set last.
type iniOption struct {
	line int // counts from 1
	// lines are the value, without the white space around each.
	lines []string
}

// readINI reads what parseINI does, and keeps the values, which may be secret.
func readINI(data []byte) (iniOptions, *fileMistake) {
	p := iniParser{sections: make(iniOptions)}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	for line := range strings.SplitSeq(text, "\n") {
		p.number++
		if problem := p.line(strings.TrimRightFunc(line, unicode.IsSpace)); problem != "" {
			return nil, &fileMistake{line: p.number, text: "not valid INI: " + problem}
		}
	}
	return p.sections, nil
}

type iniParser struct {
	sections iniOptions
	number   int // of the line, counts from 1
	// section is the one that options lie in; nil before the first.
	section map[string]*iniOption
	// open is the option whose value an indented line continues; nil where none does.
	open *iniOption
}

// line takes a line without the white space at its end, and returns what is wrong
// with it.
func (p *iniParser) line(line string) (problem string) {
	switch {
	case line == "", line[0] == '#', line[0] == ';':
		p.open = nil
		return ""
	case line[0] == ' ', line[0] == '\t':
		if p.open == nil {
			return "an indented line that continues nothing"
		}
		p.open.lines = append(p.open.lines, strings.TrimSpace(line))
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
	p.open = &iniOption{p.number, []string{strings.TrimSpace(line[i+1:])}}
	p.section[strings.TrimSpace(line[:i])] = p.open
	return ""
}

// begin starts a section.
func (p *iniParser) begin(line string) (problem string) {
	p.open = nil
	name, ok := strings.CutSuffix(line[1:], "]")
	if !ok || name == "" {
		return `a section that is not "[name]"`
	}
	name = iniSection(name)
	if p.sections[name] == nil {
		p.sections[name] = make(map[string]*iniOption)
	}
	p.section = p.sections[name]
	return ""
}

// find returns the option section.option.
func (o iniOptions) find(key fileKey) (*iniOption, bool) {
	if len(key) != 2 {
		return nil, false
	}
	option, ok := o[iniSection(key[0].name)][key[1].name]
	return option, ok
}

// value is the option's value as oslo.config takes it, without quotes around it.
func (o *iniOption) value() string {
	first := o.lines[0]
	if n := len(first); n > 1 && first[0] == first[n-1] && (first[0] == '"' || first[0] == '\'') {
		first = first[1 : n-1]
	}
	return strings.Join(append([]string{first}, o.lines[1:]...), "\n")
}

// iniSection is the name under which oslo.config knows a section: only DEFAULT has
// a case. Names of options count as they are written, so that - and _ differ.
func iniSection(name string) string {
	if name == "DEFAULT" {
		return name
	}
	return strings.ToLower(name)
}
