package main

import (
	"cmp"
	"slices"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// loads are the files as they are loaded together. A configuration loads all of them. Where
// there is none, the documents of one file are taken for what is loaded apart, such as the
// objects for several Vitals, and each of them is seen with the files that have no other.
// The last file of a load but the first one is that document.
func (r *lintRun) loads() [][]*rules.File {
	if r.complete {
		return [][]*rules.File{r.files}
	}
	alone := slices.DeleteFunc(slices.Clone(r.files), func(f *rules.File) bool { return f.Part != "" })
	all := [][]*rules.File{alone}
	for _, f := range r.files {
		if f.Part != "" {
			all = append(all, append(slices.Clone(alone), f))
		}
	}
	return all
}

// together are the mistakes that concern several rules of a load. A cause may be in any.
func (r *lintRun) together() []error {
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
	add(rules.Check(r.files), true)
	return errs
}

// found is what the checks find in all loads and, with all files at once, in the manifests.
func (r *lintRun) found(opts lint.Options) []lint.Finding {
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
		return slices.IndexFunc(r.files, func(file *rules.File) bool { return file.Name == f.File })
	}
	slices.SortStableFunc(all, func(a, b lint.Finding) int { return cmp.Compare(order(a), order(b)) })
	opts.Manifests = r.manifests
	return append(all, of(lint.Check(r.files, opts), r.inManifest)...)
}

// inManifest says whether a finding is about a manifest.
func (r *lintRun) inManifest(f lint.Finding) bool {
	return slices.ContainsFunc(r.manifests, func(m *manifest.File) bool { return m.Name == f.File })
}

// besides is a look at what stands beside mistakes; nil where they are not those of the
// rule files alone, for then nobody knows what the rules can match.
func (l *loaded) besides(mistakes []error) *lintRun {
	for _, err := range flatten(mistakes) {
		e, ok := err.(*strictyaml.Error)
		if !ok || !slices.ContainsFunc(l.files, func(f *rules.File) bool { return f.Name == e.File }) {
			return nil
		}
	}
	r := l.lint()
	r.partial = true
	return r
}

// byName puts the documents of a file together.
func byName(files []*rules.File) [][]*rules.File {
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
