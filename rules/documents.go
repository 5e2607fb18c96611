package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// The objects of the Prometheus Operator: see its api-reference/api.md.
const (
	objectVersion = "monitoring.coreos.com/v1"
	// rhobsVersion is that of the operator's fork for several tenants:
	// github.com/rhobs/obo-prometheus-operator.
	rhobsVersion = "monitoring.rhobs/v1"
	objectKind   = "PrometheusRule"
)

// ParseAll parses all documents of a rule file. Each is a file in Prometheus' format, a
// PrometheusRule object or a list of such objects. It returns at least one File, in the
// order of the documents.
//
// The errors are *strictyaml.Error in the order of the file, and name the group and the
// rule. If there are errors, the files contain the parts that could be parsed: see
// File.Mistaken. Check finds mistakes that concern several rules, except for duplicate
// group names in a document.
func (o Options) ParseAll(file string, data []byte) ([]*File, []error) {
	documents, err := strictyaml.Parts(file, data)
	var errs []error
	var parts []strictyaml.Part
	for i := range documents {
		items, mistakes := objects(&documents[i])
		parts, errs = append(parts, items...), append(errs, mistakes...)
	}
	if err != nil {
		errs = append(errs, err)
	}
	var files []*File
	for i := range parts {
		f, mistakes := o.parsePart(file, &parts[i], len(parts) > 1)
		files, errs = append(files, f), append(errs, mistakes...)
	}
	if len(files) == 0 {
		doc, _ := strictyaml.Decode(file, data, &rawFile{})
		files = []*File{{Name: file, stateLabel: o.stateLabel(), doc: doc, last: math.MaxInt}}
	}
	return files, inOrder(errs)
}

func objectVersions() []string { return []string{objectVersion, rhobsVersion} }

// objects returns the elements of a list of objects, or else the document itself.
func objects(document *strictyaml.Part) ([]strictyaml.Part, []error) {
	kind := document.Text("kind")
	if kind != "List" && kind != objectKind+"List" {
		return []strictyaml.Part{*document}, nil
	}
	var list struct {
		APIVersion string    `yaml:"apiVersion"`
		Kind       string    `yaml:"kind"`
		Metadata   ignored   `yaml:"metadata"`
		Items      []ignored `yaml:"items"`
	}
	doc, mistakes := document.Decode(&list)
	var errs []error
	for _, m := range mistakes {
		errs = append(errs, m)
	}
	versions := []string{"v1"}
	if kind != "List" {
		versions = objectVersions()
	}
	if !slices.Contains(versions, list.APIVersion) {
		errs = append(errs, doc.Errorf("apiVersion", "expected %q, got %q", versions[0], clip(list.APIVersion)))
	}
	if !doc.Has("items") {
		errs = append(errs, doc.Errorf("", "expected items, got none"))
	}
	return document.Items("items"), errs
}

// parsePart parses one document or one object. many is set if the file has others.
func (o Options) parsePart(file string, part *strictyaml.Part, many bool) (*File, []error) {
	var raw rawFile
	doc, mistakes := part.Decode(&raw)
	p := &fileParser{doc: doc, opts: o, groups: raw.Groups, root: "groups"}
	f := &File{Name: file, stateLabel: o.stateLabel(), doc: doc, first: part.First, last: part.Last}
	if many {
		f.Part = partName(raw, part.Number)
	}
	p.part = f.Part
	if slices.ContainsFunc([]string{"apiVersion", "kind", "metadata", "spec", "status"}, doc.Has) {
		p.object(raw)
	} else {
		f.Behind = part.Number > 1
	}
	for _, m := range mistakes {
		p.add(m)
	}
	seen := map[string]bool{}
	for i, g := range p.groups {
		path := strictyaml.PathIndex(p.root, i)
		if seen[g.Name] {
			p.fail(path+".name", "duplicate group name, expected it once in a file")
		}
		seen[g.Name] = true
		f.Groups = append(f.Groups, p.group(path, g))
	}
	f.broken = brokenAt(p.broken)
	for g := range f.Groups {
		for i := range f.Groups[g].Rules {
			if r := &f.Groups[g].Rules[i]; f.Mistaken(r) {
				r.AST = nil
			}
		}
	}
	return f, p.sorted()
}

// partName names a document or an object of a file with several.
func partName(raw rawFile, number int) string {
	switch {
	case raw.Kind == "":
		return fmt.Sprintf("document %d", number)
	case raw.Metadata.Name == "":
		return clip(raw.Kind)
	}
	return fmt.Sprintf("%s %q", clip(raw.Kind), clip(raw.Metadata.Name))
}

// Mistaken reports whether a rule of the file is invalid: the rule itself, the labels of
// its group, or a part that contains it has a mistake.
func (f *File) Mistaken(r *Rule) bool {
	group := r.path[:max(strings.LastIndex(r.path, ".rules["), 0)]
	return f.broken.within[r.path] || f.broken.within[group+".labels"] ||
		slices.ContainsFunc(parents(r.path), func(path string) bool { return f.broken.at[path] })
}

// broken are the paths of mistakes: at holds them, and within also all parts that contain
// them.
type broken struct{ at, within map[string]bool }

func brokenAt(paths []string) broken {
	b := broken{map[string]bool{}, map[string]bool{}}
	for _, path := range paths {
		b.at[path] = true
		for _, p := range parents(path) {
			b.within[p] = true
		}
	}
	return b
}

// parents returns a path and those of all parts of the document that contain it.
func parents(path string) []string {
	all := []string{"", path}
	for i, c := range path {
		if c == '.' || c == '[' {
			all = append(all, path[:i])
		}
	}
	return all
}

// within prefixes the place of a mistake with the part of its file.
func within(part, where string) string {
	if part == "" || where == "" {
		return part + where
	}
	return part + ", " + where
}

// inOrder sorts mistakes by their places.
func inOrder(errs []error) []error {
	place := func(err error) (line, col int) {
		e := err.(*strictyaml.Error)
		return e.Line, e.Col
	}
	slices.SortStableFunc(errs, func(a, b error) int {
		lineA, colA := place(a)
		lineB, colB := place(b)
		return cmp.Or(cmp.Compare(lineA, lineB), cmp.Compare(colA, colB))
	})
	return errs
}
