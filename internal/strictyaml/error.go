package strictyaml

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/text"
)

// maxErrors bounds the list of mistakes of one file; what is beyond it is counted.
const maxErrors = 100

// Error is one mistake of a file. It never contains an expanded value.
type Error struct {
	// File is the file's name, as it was given to Decode.
	File string
	// Line and Col count from 1; Col counts characters. Line 0 means the file as a whole.
	Line, Col int
	// Where is the place in the document, such as "collectors[2].keystone"; empty
	// means the document itself.
	Where string
	// Text says what is wrong and what is expected there.
	Text string
	// Code is the stable name of this class of mistakes, for tools; empty where the
	// file's reader has none. It is no part of the message.
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

// describe says what was found instead of what was expected: the original text,
// never the expanded one.
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
