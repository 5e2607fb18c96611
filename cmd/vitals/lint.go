package main

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/filekind"
	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// lintRun is one look at rule files that are loaded together.
type lintRun struct {
	states []string
	// loaded is the configuration that they belong to; nil where none is named.
	loaded *loaded
	files  []*rules.File
	// only are the files that are asked for; nil where all are.
	only []*rules.File
	// complete says that files are all of the configuration.
	complete bool
	// partial says that they have mistakes.
	partial   bool
	manifests []*manifest.File
}

// lint is a look at all rule files of a configuration.
func (l *loaded) lint() *lintRun {
	r := &lintRun{}
	r.of(l)
	return r
}

// of looks at the rule files of a configuration, until read is told others.
func (r *lintRun) of(l *loaded) {
	r.loaded, r.files, r.complete = l, l.files, true
	for _, name := range l.cfg.stateNames() {
		if !slices.Contains(r.states, name) {
			r.states = append(r.states, name)
		}
	}
}

// chosen are the files that are asked for.
func (r *lintRun) chosen() []*rules.File {
	if r.only != nil {
		return r.only
	}
	return r.files
}

// read reads the rule files that are asked for. Where all of them belong to the
// configuration, they are seen together with its others. It returns the mistakes.
func (r *lintRun) read(paths []string) []error {
	if len(paths) == 0 {
		return nil
	}
	names, errs := ruleFiles(paths)
	if r.complete && len(errs) == 0 && r.choose(names) {
		return nil
	}
	r.files, r.complete = nil, false
	for _, name := range names {
		data, err := readRuleFile(name)
		if err != nil {
			errs = append(errs, &strictyaml.Error{File: name, Text: err.Error()})
			continue
		}
		files, mistakes := rules.ParseAll(name, data, r.states)
		errs = append(errs, filekind.Instead(name, data, filekind.Rules, mistakes)...)
		r.files = append(r.files, files...)
	}
	return append(errs, r.together()...)
}

// choose asks for files of the configuration; false if one of them is none.
func (r *lintRun) choose(names []string) bool {
	var only []*rules.File
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(r.files), func(f *rules.File) bool { return !sameFile(f.Name, name) })
		if len(found) == 0 {
			return false
		}
		only = append(only, found...)
	}
	r.only = only
	return true
}

func sameFile(a, b string) bool {
	if strings.HasPrefix(a, builtinPrefix) || strings.HasPrefix(b, builtinPrefix) {
		return a == b
	}
	x, err := filepath.Abs(a)
	y, other := filepath.Abs(b)
	return err == nil && other == nil && x == y
}

// readManifests reads Kubernetes manifests. It returns the mistakes.
func (r *lintRun) readManifests(paths []string) []error {
	paths, errs := allFiles(paths, matchingPaths)
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			errs = append(errs, &strictyaml.Error{File: path, Text: err.Error()})
			continue
		}
		m, mistakes := manifest.Read(path, data)
		errs = append(errs, filekind.Instead(path, data, filekind.Manifest, mistakes)...)
		r.manifests = append(r.manifests, m)
	}
	return errs
}

// findings are what the checks find in the files that are asked for.
func (r *lintRun) findings() []lint.Finding {
	opts := lint.Options{Vocabulary: r.vocabulary(), Complete: r.complete && !r.partial, Partial: r.partial, States: r.states, Manifests: r.manifests}
	if r.partial {
		opts.Manifests = nil // what their probes can ask for is not known
	}
	if r.loaded != nil {
		opts.Config = r.loaded.doc.File()
		opts.ListenAddress = cmp.Or(r.loaded.cfg.Server.ListenAddress, defaultListen)
	}
	all := r.found(opts)
	for i, f := range all {
		ofMany := f.Code == "V003" && f.Where == "" // which says what else could be configured
		if f.Severity == lint.Info && f.Accepted == "" && strings.HasPrefix(f.File, builtinPrefix) && !ofMany {
			all[i].Accepted = "the file comes with Vitals"
		}
	}
	if r.only == nil {
		return all
	}
	return slices.DeleteFunc(all, func(f lint.Finding) bool {
		return !slices.ContainsFunc(r.only, func(o *rules.File) bool { return o.Name == f.File }) && !r.inManifest(f)
	})
}

// sources are the texts of the rule files and manifests.
func (r *lintRun) sources() map[string][]byte {
	texts := map[string][]byte{}
	for _, f := range r.files {
		texts[f.Name] = f.Text()
	}
	for _, m := range r.manifests {
		texts[m.Name] = m.Text
	}
	return texts
}

// vocabulary is what the rules can match: with the configuration, or with any.
func (r *lintRun) vocabulary() *lint.Vocabulary {
	if r.loaded == nil {
		return anyVocabulary()
	}
	with := *r.loaded
	with.files = r.files
	return vocabulary(&with)
}

// ruleFiles are the files that arguments name, each once: a path, a glob or the name of
// shipped ones.
func ruleFiles(args []string) ([]string, []error) {
	return allFiles(args, matching)
}

// matching are the files that an argument names.
func matching(arg string) ([]string, error) {
	if pattern, ok := strings.CutPrefix(arg, builtinPrefix); ok {
		var found []string
		for _, name := range shippedRules() {
			if ok, _ := path.Match(pattern, strings.TrimPrefix(name, builtinPrefix)); ok {
				found = append(found, name)
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("expected one of the shipped files %s", strings.Join(shippedRules(), ", "))
		}
		return found, nil
	}
	return matchingPaths(arg)
}
