package rules

import (
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// The codes of mistakes that Prometheus would load and that make a probe misleading. Other
// mistakes of a rule file have no code of their own.
const (
	CodeTopLevelBool = "V010"
	CodeDuplicate    = "V016"
	CodeUnknownCause = "V018"
	CodeCauseCycle   = "V019"
)

// Place returns the place of a key of the rule, such as "for" or "labels.state": where its
// value begins, or the rule itself if it has no such key. The rule must belong to the file.
// In a file that Parse did not create, it is the place of the rule.
func (f *File) Place(r *Rule, key string) (line, col int) {
	if f.doc == nil || r.path == "" || !f.doc.Has(r.path+"."+key) {
		return r.Line, r.Col
	}
	return f.doc.Position(r.path + "." + key)
}

// PlaceInGroup returns the place of a key of the group, such as "interval", or of the group
// itself if it has no such key or no rules.
func (f *File) PlaceInGroup(g *Group, key string) (line, col int) {
	if f.doc == nil || len(g.Rules) == 0 {
		return g.Line, g.Col
	}
	path := g.Rules[0].path
	if path = path[:max(strings.LastIndex(path, ".rules["), 0)] + "." + key; !f.doc.Has(path) {
		return g.Line, g.Col
	}
	return f.doc.Position(path)
}

// PlaceOfKey returns the place of the key of a label or an annotation; section is "labels"
// or "annotations". A label of the group has its place there. Without such a key it is the
// place of the rule.
func (f *File) PlaceOfKey(r *Rule, section, name string) (line, col int) {
	if f.doc == nil || r.path == "" {
		return r.Line, r.Col
	}
	group := r.path[:max(strings.LastIndex(r.path, ".rules["), 0)]
	for _, path := range []string{r.path + "." + section, group + "." + section} {
		if key := strictyaml.PathKey(path, name); f.doc.Has(key) {
			return f.doc.KeyPosition(key)
		}
	}
	return r.Line, r.Col
}

// placeOfCause returns the place of a name in the annotation depends_on.
func (f *File) placeOfCause(r *Rule, name string) (line, col int) {
	path := r.path + ".annotations.depends_on"
	if f.doc == nil || r.path == "" || !f.doc.Has(path) {
		return r.Line, r.Col
	}
	word := regexp.MustCompile(`(?:^|,)\s*(` + regexp.QuoteMeta(name) + `)\s*(?:,|$)`)
	offset := 0
	if at := word.FindStringSubmatchIndex(r.Annotations["depends_on"]); at != nil {
		offset = at[2]
	}
	return f.doc.Locate(path, offset)
}

// PlaceInExpr returns the place of a part of the rule's expression. pos counts bytes from
// the start of the expression, like the positions of its AST.
func (f *File) PlaceInExpr(r *Rule, pos posrange.Pos) (line, col int) {
	return f.PlacesInExpr(r)(pos)
}

// PlacesInExpr returns the function PlaceInExpr of a rule, for many places.
func (f *File) PlacesInExpr(r *Rule) func(pos posrange.Pos) (line, col int) {
	if f.doc == nil || r.path == "" {
		return func(posrange.Pos) (line, col int) { return r.Line, r.Col }
	}
	locate := f.doc.Locator(r.path + ".expr")
	return func(pos posrange.Pos) (line, col int) { return locate(int(pos)) }
}

// Has reports whether a line of the file, or a comment in it, belongs to the document.
func (f *File) Has(line int) bool {
	return f.doc == nil || f.first <= line && line <= f.last
}

// Text returns the whole file that Parse was called with, including its other documents, or
// nil. It must not be changed.
func (f *File) Text() []byte {
	if f.doc == nil {
		return nil
	}
	return f.doc.Data()
}
