package strictyaml

import (
	"bytes"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Locate returns the position in the file of the byte at an offset in the value of the
// scalar at path. The text of a scalar differs from its value in white space, quotes and
// escapes only, so that Locate counts visible characters. For other nodes and expanded
// scalars it returns the position of the node.
func (d *Document) Locate(path string, offset int) (line, col int) {
	at, n, _ := d.find(path)
	if n == nil || n.Kind != yaml.ScalarNode {
		return place(at)
	}
	start, ok := d.contentStart(n)
	if !ok {
		return place(at)
	}
	offset = min(max(offset, 0), len(n.Value))
	before, after := visible(n.Value[:offset]), visible(n.Value[offset:])
	s := source{text: d.data[start:], style: n.Style}
	end := 0
	for seen := 0; ; {
		r, size := s.next()
		if size == 0 {
			return place(at)
		}
		if isVisible(r) {
			if seen == before {
				return d.lineCol(start + s.pos - size)
			}
			seen, end = seen+1, s.pos
			if seen == before && after == 0 {
				return d.lineCol(start + end)
			}
		}
	}
}

func visible(s string) (n int) {
	for _, r := range s {
		if isVisible(r) {
			n++
		}
	}
	return n
}

func isVisible(r rune) bool { return !unicode.IsSpace(r) }

// contentStart returns the offset of the first byte of a scalar's text: after its anchor
// and tag, its quote, or its header ("|-").
func (d *Document) contentStart(n *yaml.Node) (int, bool) {
	p, ok := d.offset(n.Line, n.Column)
	if !ok {
		return 0, false
	}
	for p < len(d.data) && (d.data[p] == '&' || d.data[p] == '!') {
		for p < len(d.data) && !unicode.IsSpace(rune(d.data[p])) {
			p++
		}
		for p < len(d.data) && unicode.IsSpace(rune(d.data[p])) {
			p++
		}
	}
	switch {
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		p++
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		header := bytes.IndexByte(d.data[min(p, len(d.data)):], '\n')
		if header < 0 {
			return 0, false
		}
		p += header + 1
	}
	return p, p <= len(d.data)
}

// offset returns the offset of a position in bytes.
func (d *Document) offset(line, col int) (int, bool) {
	lines := d.lines()
	if line > len(lines) {
		return 0, false
	}
	p := lines[max(line, 1)-1]
	for ; col > 1 && p < len(d.data); col-- {
		_, size := utf8.DecodeRune(d.data[p:])
		p += size
	}
	return p, p < len(d.data)
}

// lineCol is the inverse of offset.
func (d *Document) lineCol(offset int) (line, col int) {
	lines := d.lines()
	line, found := slices.BinarySearch(lines, offset)
	if found {
		line++
	}
	return line, utf8.RuneCount(d.data[lines[line-1]:offset]) + 1
}

// lineStarts returns the offsets at which the lines of a text begin.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// source reads the text of a scalar character by character, without its escapes.
type source struct {
	text  []byte
	style yaml.Style
	pos   int
}

// next returns the next character and its size in the file, in bytes. The size is 0 at the
// end.
func (s *source) next() (r rune, size int) {
	rest := s.text[s.pos:]
	r, size = utf8.DecodeRune(rest)
	switch {
	case r == '\'' && s.style&yaml.SingleQuotedStyle != 0:
		if !bytes.HasPrefix(rest, []byte("''")) {
			return 0, 0
		}
		size = 2
	case r == '"' && s.style&yaml.DoubleQuotedStyle != 0:
		return 0, 0
	case r == '\\' && s.style&yaml.DoubleQuotedStyle != 0 && len(rest) > 1:
		r, size = unescape(rest)
	}
	s.pos += size
	return r, size
}

// unescape reads one escape of a double-quoted scalar (YAML 1.2.2, section 5.7).
// All white space is returned as a space.
func unescape(text []byte) (r rune, size int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	switch {
	case digits > 0 && len(text) >= 2+digits:
		code, err := strconv.ParseUint(string(text[2:2+digits]), 16, 32)
		if err != nil {
			return utf8.RuneError, 2
		}
		return rune(code), 2 + digits
	case bytes.IndexByte([]byte(" \t\ntnvfrN_LP"), text[1]) >= 0:
		return ' ', 2
	case text[1] == '\r':
		return ' ', 2
	}
	return 'x', 2
}
