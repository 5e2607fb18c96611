package rules

import (
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// The codes of the mistakes that Prometheus would load and that mislead a probe. All
// other mistakes of a rule file have none.
const (
	CodeTopLevelBool = "V010"
	CodeDuplicate    = "V016"
	CodeUnknownCause = "V018"
	CodeCauseCycle   = "V019"
)

// Place returns where a key of the rule stands, such as "for" or "labels.state": where
// its value begins, or the rule itself where it has no such key. The rule must be one of
// the file's. A file that Parse did not make knows the rule's beginning only.
func (f *File) Place(r *Rule, key string) (line, col int) {
	if f.doc == nil || r.path == "" || !f.doc.Has(r.path+"."+key) {
		return r.Line, r.Col
	}
	return f.doc.Position(r.path + "." + key)
}

// PlaceOfKey returns where the key of a label or an annotation stands: section is
// "labels" or "annotations". A label that the rule has from its group stands there. It is
// the rule itself where it has no such key.
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

// placeOfCause returns where the annotation depends_on names a cause.
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

// PlaceInExpr returns where a part of the rule's expression stands: pos counts bytes
// from the beginning of the expression, as the positions of its AST do.
func (f *File) PlaceInExpr(r *Rule, pos posrange.Pos) (line, col int) {
	if f.doc == nil || r.path == "" {
		return r.Line, r.Col
	}
	return f.doc.Locate(r.path+".expr", int(pos))
}

// Has says whether a line of the file is one of the document's, its comments included.
func (f *File) Has(line int) bool {
	return f.doc == nil || f.first <= line && line <= f.last
}

// Text returns the file as it was given to Parse, or nil: all of its documents. It must
// not be changed.
func (f *File) Text() []byte {
	if f.doc == nil {
		return nil
	}
	return f.doc.Data()
}
