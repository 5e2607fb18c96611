package strictyaml

import (
	"bytes"
	"sort"
	"strconv"
	"sync"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Locate returns the position in the file of the byte at an offset in the value of the
// scalar at path. The text of a scalar differs from its value in white space, quotes and
// escapes only, so that Locate counts visible characters. For other nodes and expanded
// scalars it returns the position of the node.
func (d *Document) Locate(path string, offset int) (line, col int) {
	return d.Locator(path)(offset)
}

// Locator returns the function Locate for the scalar at path. It reads the scalar once.
func (d *Document) Locator(path string) func(offset int) (line, col int) {
	at, n, _ := d.find(path)
	whole := func(int) (line, col int) { return place(at) }
	if n == nil || n.Kind != yaml.ScalarNode {
		return whole
	}
	start, ok := d.contentStart(n)
	if !ok {
		return whole
	}
	before := visible(n.Value)
	total := before[len(n.Value)]
	marks := marksOf(source{text: d.data[start:], style: n.Style}, total+1)
	return func(offset int) (line, col int) {
		seen := before[min(max(offset, 0), len(n.Value))]
		switch {
		case 0 < seen && seen == total && seen <= len(marks):
			return d.lineCol(start + marks[seen-1].end)
		case seen < len(marks):
			return d.lineCol(start + marks[seen].begin)
		}
		return place(at)
	}
}

// mark is the place of a visible character in the text of a scalar.
type mark struct{ begin, end int }

// marksOf returns the places of the first visible characters, at most limit of them.
func marksOf(s source, limit int) []mark {
	var marks []mark
	for len(marks) < limit {
		r, size := s.next()
		if size == 0 {
			break
		}
		if isVisible(r) {
			marks = append(marks, mark{s.pos - size, s.pos})
		}
	}
	return marks
}

// visible returns, for each offset in a text, how many visible characters begin before it.
func visible(s string) []int {
	before, n := make([]int, len(s)+1), 0
	for i, r := range s {
		before[i] = n
		if isVisible(r) {
			n++
		}
		for j := i + 1; j <= min(i+utf8.RuneLen(r), len(s)); j++ {
			before[j] = n
		}
	}
	return before
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
	starts := d.starts()
	if line > len(starts) {
		return 0, false
	}
	p := starts[max(line, 1)-1]
	for ; col > 1 && p < len(d.data); col-- {
		_, size := utf8.DecodeRune(d.data[p:])
		p += size
	}
	return p, p < len(d.data)
}

// lineCol is the inverse of offset.
func (d *Document) lineCol(offset int) (line, col int) {
	starts := d.starts()
	line = sort.SearchInts(starts, offset+1)
	return line, utf8.RuneCount(d.data[starts[line-1]:offset]) + 1
}

// lineStarts returns a function that returns the offsets of all lines in data. It computes
// them when they are first needed.
func lineStarts(data []byte) func() []int {
	return sync.OnceValue(func() []int {
		starts := []int{0}
		for i, c := range data {
			if c == '\n' {
				starts = append(starts, i+1)
			}
		}
		return starts
	})
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
