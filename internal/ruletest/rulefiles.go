package ruletest

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/vitals-health/vitals/internal/filekind"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// builtinPrefix is the prefix of shipped rule files, as in a configuration.
const builtinPrefix = "builtin:"

// rulesOf reads the rule files of a test file.
func (r *reader) rulesOf(f *file, raw rawFile) {
	opts := rules.Options{States: f.stateNames(), StateLabel: cmp.Or(raw.StateLabel, r.opts.StateLabel), Step: f.interval, Templates: rules.Templates()}
	if text := rules.StateLabelProblem(raw.StateLabel); text != "" {
		r.fail("state_label", "%q: %s", raw.StateLabel, text)
	}
	parse := func(name string, data []byte, opts rules.Options) {
		parsed, mistakes := opts.ParseAll(name, data)
		r.errs = append(r.errs, filekind.Instead(name, data, filekind.Rules, mistakes)...)
		f.rules = append(f.rules, parsed...)
	}
	seen := map[string]bool{}
	for i, pattern := range raw.RuleFiles {
		path := strictyaml.PathIndex("rule_files", i)
		if name, ok := strings.CutPrefix(pattern, builtinPrefix); ok {
			data, err := fs.ReadFile(rules.Shipped(), name+".yml")
			if err != nil {
				r.fail(path, "there is no shipped rule file %q: see the rule_files of vitals profiles show NAME", pattern)
				continue
			}
			parse(pattern, data, rules.Options{States: opts.States, Step: opts.Step, Templates: opts.Templates})
			continue
		}
		for _, name := range r.glob(path, f.name, pattern) {
			if seen[name] {
				continue
			}
			seen[name] = true
			data, err := r.opts.read(name)
			if err != nil {
				r.errs = append(r.errs, fmt.Errorf("%s: %w", name, err))
				continue
			}
			parse(name, data, opts)
		}
	}
	r.errs = append(r.errs, rules.Check(f.rules)...)
}

// glob returns the files of a pattern, relative to the test file.
func (r *reader) glob(path, testFile, pattern string) []string {
	if pattern != "" && !filepath.IsAbs(pattern) {
		pattern = filepath.Join(filepath.Dir(testFile), pattern)
	}
	matches, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		r.fail(path, "%q is not a pattern: %v", pattern, err)
	case len(matches) > 0:
	case strings.ContainsAny(pattern, "*?["):
		r.warn(path, "no rule file matches %q", pattern)
	default:
		r.fail(path, "there is no rule file %q", pattern)
	}
	return matches
}

// alertNames returns the names of all alerts.
func alertNames(files []*rules.File) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" {
					names[r.Alert] = true
				}
			}
		}
	}
	return names
}

// ordered returns the groups in the order of evaluation, each as a separate file. Groups
// that are not in group_eval_order come first, together with its first group, as in
// promtool. Their order is that of the files; in promtool it is random.
func (f *file) ordered() []*rules.File {
	var all []*rules.File
	for _, file := range f.rules {
		for _, g := range file.Groups {
			all = append(all, &rules.File{Name: file.Name, Groups: []rules.Group{g}})
		}
	}
	rank := func(i int) int { return max(0, slices.Index(f.order, all[i].Groups[0].Name)) }
	sort.SliceStable(all, func(i, j int) bool { return rank(i) < rank(j) })
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
