package rulecheck

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/filekind"
	"github.com/vitals-health/vitals/internal/lintreport"
	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// Set is a set of rule files that are loaded together.
type Set struct {
	States []string
	// StateLabel is the label of the state; state if empty.
	StateLabel string
	// loaded is the configuration that they belong to; nil for none.
	loaded *config.Loaded
	Files  []*rules.File
	// only are the files to report on; nil for all.
	only []*rules.File
	// complete is set if the files are all rule files of the configuration.
	complete bool
	// Partial is set if the files have errors.
	Partial   bool
	Manifests []*manifest.File
}

// OfConfig returns the set of all rule files of a configuration.
func OfConfig(l *config.Loaded) *Set {
	r := &Set{}
	r.Use(l)
	return r
}

// Use selects the rule files of a configuration.
func (r *Set) Use(l *config.Loaded) {
	r.loaded, r.Files, r.complete = l, l.Rules, true
	r.StateLabel = cmp.Or(l.Config.StateLabel, r.StateLabel)
	for _, name := range l.Config.StateNames() {
		if !slices.Contains(r.States, name) {
			r.States = append(r.States, name)
		}
	}
}

// Chosen returns the files to report on.
func (r *Set) Chosen() []*rules.File {
	if r.only != nil {
		return r.only
	}
	return r.Files
}

// Read selects the rule files with these paths. If all of them belong to the
// configuration, they are checked together with its other files. It returns the errors.
func (r *Set) Read(paths []string) []error {
	if len(paths) == 0 {
		return nil
	}
	names, errs := RuleFiles(paths)
	if r.complete && len(errs) == 0 && r.choose(names) {
		return nil
	}
	r.Files, r.complete = nil, false
	opts := r.options()
	for _, name := range names {
		data, err := readRuleFile(name)
		if err != nil {
			errs = append(errs, &strictyaml.Error{File: name, Text: err.Error()})
			continue
		}
		files, mistakes := config.ForFile(opts, name).ParseAll(name, data)
		errs = append(errs, filekind.Instead(name, data, filekind.Rules, mistakes)...)
		r.Files = append(r.Files, files...)
	}
	return append(errs, r.together()...)
}

// options returns the options of rule files that do not belong to the configuration.
func (r *Set) options() rules.Options {
	opts := rules.Options{Templates: rules.Templates()}
	if r.loaded != nil {
		opts = r.loaded.RuleOptions()
	}
	opts.States, opts.StateLabel = r.States, r.StateLabel
	return opts
}

// choose selects files of the configuration. It reports false if one does not belong to
// the configuration.
func (r *Set) choose(names []string) bool {
	var only []*rules.File
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(r.Files), func(f *rules.File) bool { return !sameFile(f.Name, name) })
		if len(found) == 0 {
			return false
		}
		only = append(only, found...)
	}
	r.only = only
	return true
}

func sameFile(a, b string) bool {
	if strings.HasPrefix(a, config.BuiltinPrefix) || strings.HasPrefix(b, config.BuiltinPrefix) {
		return a == b
	}
	x, err := filepath.Abs(a)
	y, other := filepath.Abs(b)
	return err == nil && other == nil && x == y
}

// ReadManifests reads Kubernetes manifests. It returns the errors.
func (r *Set) ReadManifests(paths []string) []error {
	paths, errs := AllFiles(paths, Paths)
	for _, path := range paths {
		data, err := config.ReadFile(path)
		if err != nil {
			errs = append(errs, &strictyaml.Error{File: path, Text: err.Error()})
			continue
		}
		m, mistakes := manifest.Read(path, data)
		errs = append(errs, filekind.Instead(path, data, filekind.Manifest, mistakes)...)
		r.Manifests = append(r.Manifests, m)
	}
	return errs
}

// Findings runs the checks and returns the findings in the selected files.
func (r *Set) Findings() []lint.Finding {
	opts := lint.Options{Vocabulary: r.vocabulary(), Complete: r.complete && !r.Partial, Partial: r.Partial, States: r.States, Manifests: r.Manifests}
	if r.Partial {
		opts.Manifests = nil // the paths of the server are unknown
	}
	if r.loaded != nil {
		opts.Config = r.loaded.Document.File()
		opts.AliveNoData = rules.NoData(r.loaded.Config.States["alive"].NoData)
		opts.ListenAddress = listenAddress(r.loaded)
		opts.Needs = needs(r.loaded)
	}
	all := r.found(opts)
	for i, f := range all {
		ofMany := f.Code == "V003" && f.Where == "" // lists what else could be configured
		if f.Severity == lint.Info && f.Accepted == "" && strings.HasPrefix(f.File, config.BuiltinPrefix) && !ofMany {
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

// needs returns what the container of Vitals must have for a configuration file. What belongs to a
// host is left out: a collector may measure that it is missing. So are profiles, as the flags of the
// container change what they use.
func needs(l *config.Loaded) []manifest.Need {
	var all []manifest.Need
	for _, in := range l.Inputs() {
		if (in.Content || in.Variable) && !in.Optional && !strings.HasPrefix(l.Document.File(), config.BuiltinPrefix) {
			all = append(all, manifest.Need{Name: in.Name, Variable: in.Variable, Where: fmt.Sprintf("%s:%d: %s", l.Document.File(), in.Line, in.Of)})
		}
	}
	return all
}

// Covered returns how many probes of each manifest the checks judge.
func (r *Set) Covered() []probes.Coverage {
	in := probes.Input{Manifests: r.Manifests, States: r.States}
	if r.loaded != nil {
		in.ListenAddress = listenAddress(r.loaded)
	}
	return probes.Covered(in)
}

// listenAddress returns where a configuration makes Vitals listen.
func listenAddress(l *config.Loaded) string {
	return cmp.Or(l.Config.Server.ListenAddress, config.DefaultListen)
}

// Report returns the findings for a printer.
func (r *Set) Report() lintreport.Report {
	files := r.Chosen()
	return lintreport.Report{Findings: r.Findings(), Sources: r.Sources(), Files: len(ByFile(files)), Rules: config.CountRules(files)}
}

// Sources returns the texts of the rule files and manifests by their paths.
func (r *Set) Sources() map[string][]byte {
	texts := map[string][]byte{}
	for _, f := range r.Files {
		texts[f.Name] = f.Text()
	}
	for _, m := range r.Manifests {
		texts[m.Name] = m.Text
	}
	return texts
}

// vocabulary returns the metrics that the rules can match: those of the configuration, or
// those of every configuration.
func (r *Set) vocabulary() *lint.Vocabulary {
	if r.loaded == nil {
		return AnyVocabulary()
	}
	with := *r.loaded
	with.Rules = r.Files
	return Vocabulary(&with)
}

// RuleFiles returns the files that arguments name, each once: paths, globs, or names of
// shipped files.
func RuleFiles(args []string) ([]string, []error) {
	return AllFiles(args, matching)
}

// matching returns the files that an argument names.
func matching(arg string) ([]string, error) {
	if pattern, ok := strings.CutPrefix(arg, config.BuiltinPrefix); ok {
		var found []string
		for _, name := range config.ShippedRules() {
			if ok, _ := path.Match(pattern, strings.TrimPrefix(name, config.BuiltinPrefix)); ok {
				found = append(found, name)
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("expected one of the shipped files %s", strings.Join(config.ShippedRules(), ", "))
		}
		return found, nil
	}
	return Paths(arg)
}
