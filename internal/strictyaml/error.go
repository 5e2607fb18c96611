package strictyaml

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/text"
)

// maxErrors bounds the list of mistakes of a file; further ones are counted.
const maxErrors = 100

// Error is a mistake in a file. It never contains an expanded value.
type Error struct {
	// File is the name that Decode got.
	File string
	// Line and Col are from 1, Col in characters. Line 0 means the whole file.
	Line, Col int
	// Where is the path in the document, such as "collectors[2].keystone"; empty for
	// the document.
	Where string
	// Text is the mistake and the expected value.
	Text string
	// Code is the stable name of this class of mistakes for tools; it may be empty. It is
	// not part of the message.
	Code string
}

// Error returns "file:line:col: where: text", or "file: text" without a line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	where := ""
	if e.Where != "" {
		where = text.Clip(e.Where, 200) + ": "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", e.File, e.Line, e.Col, where, e.Text)
}

// sorted orders mistakes by position, removes repetitions (an alias may lead to
// the same mistake twice) and bounds their number.
func sorted(errs []*Error) []*Error {
	slices.SortStableFunc(errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	errs = slices.CompactFunc(errs, func(a, b *Error) bool {
		return a.Line == b.Line && a.Col == b.Col && a.Text == b.Text
	})
	if more := len(errs) - maxErrors; more > 0 {
		last := *errs[maxErrors]
		last.Where, last.Text = "", fmt.Sprintf("%d more mistakes from here on", more)
		errs = append(errs[:maxErrors:maxErrors], &last)
	}
	return errs
}

// describe describes a node for messages, with the original text, never the expanded one.
func describe(n *yaml.Node) string {
	n = deref(n)
	switch {
	case isTemplate(n):
		return describeTemplate(n)
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return quote(n.Value)
}

// quote quotes a text of the file and keeps it short.
func quote(s string) string { return fmt.Sprintf("%q", text.Clip(s, 64)) }
