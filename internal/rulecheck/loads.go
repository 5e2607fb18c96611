package rulecheck

import (
	"cmp"
	"slices"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/lintreport"
	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// loads returns the groups of files that one Vitals loads together. A configuration loads
// all files. Without one, every document of a file with several documents is a group, as
// such files hold objects for several Vitals; the files with one document belong to every
// group. The first group has no further document, every other group has its document last.
func (r *Set) loads() [][]*rules.File {
	if r.complete {
		return [][]*rules.File{r.Files}
	}
	alone := slices.DeleteFunc(slices.Clone(r.Files), func(f *rules.File) bool { return f.Part != "" })
	all := [][]*rules.File{alone}
	for _, f := range r.Files {
		if f.Part != "" {
			all = append(all, append(slices.Clone(alone), f))
		}
	}
	return all
}

// together returns the errors that concern several rules of a group. The cause of a rule
// may be in any group.
func (r *Set) together() []error {
	var errs []error
	known := map[strictyaml.Error]bool{}
	add := func(found []error, causes bool) {
		for _, err := range found {
			e, ok := err.(*strictyaml.Error)
			if ok && isUnknownCause(err) == causes && !known[*e] {
				known[*e] = true
				errs = append(errs, err)
			}
		}
	}
	for _, files := range r.loads() {
		add(rules.Check(files), false)
	}
	add(rules.Check(r.Files), true)
	return errs
}

// found returns the findings in all groups and, with all files at once, in the manifests.
func (r *Set) found(opts lint.Options) []lint.Finding {
	loads := r.loads()
	if len(loads) == 1 {
		return lint.Check(loads[0], opts)
	}
	of := func(found []lint.Finding, keep func(lint.Finding) bool) []lint.Finding {
		return slices.DeleteFunc(found, func(f lint.Finding) bool { return !keep(f) })
	}
	var all []lint.Finding
	opts.Manifests = nil
	for i, files := range loads {
		found := lint.Check(files, opts)
		if i > 0 {
			document := files[len(files)-1]
			found = of(found, func(f lint.Finding) bool { return f.File == document.Name && document.Has(f.Line) })
		}
		all = append(all, found...)
	}
	order := func(f lint.Finding) int {
		return slices.IndexFunc(r.Files, func(file *rules.File) bool { return file.Name == f.File })
	}
	slices.SortStableFunc(all, func(a, b lint.Finding) int { return cmp.Compare(order(a), order(b)) })
	opts.Manifests = r.Manifests
	return append(all, of(lint.Check(r.Files, opts), r.inManifest)...)
}

// inManifest reports whether a finding is about a manifest.
func (r *Set) inManifest(f lint.Finding) bool {
	return slices.ContainsFunc(r.Manifests, func(m *manifest.File) bool { return m.Name == f.File })
}

// Beside returns the findings in rules without errors, for a configuration with errors. It
// returns nil if there are errors outside of rule files: the metrics are then unknown.
func Beside(l *config.Loaded, mistakes []error) *lintreport.Report {
	for _, err := range Flatten(mistakes) {
		e, ok := err.(*strictyaml.Error)
		if !ok || !slices.ContainsFunc(l.Rules, func(f *rules.File) bool { return f.Name == e.File }) {
			return nil
		}
	}
	r := OfConfig(l)
	r.Partial = true
	found := r.Report()
	found.Mistakes = len(Flatten(mistakes))
	return &found
}

// ByFile groups documents by their file.
func ByFile(files []*rules.File) [][]*rules.File {
	var all [][]*rules.File
	for _, f := range files {
		if n := len(all); n > 0 && all[n-1][0].Name == f.Name {
			all[n-1] = append(all[n-1], f)
			continue
		}
		all = append(all, []*rules.File{f})
	}
	return all
}

// Flatten replaces joined errors by their parts.
func Flatten(errs []error) []error {
	var all []error
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			all = append(all, Flatten(joined.Unwrap())...)
			continue
		}
		all = append(all, err)
	}
	return all
}
