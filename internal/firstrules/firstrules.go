// Package firstrules writes first rules, with their unit tests, for the collectors of a
// configuration that no rule judges. The texts and thresholds of the rules are in the
// folders of the kinds.
package firstrules

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

// Result is what Make writes.
type Result struct {
	// Rules and Tests are the texts of the rule file and of its test file.
	Rules, Tests []byte
	// Groups are the collectors that got rules.
	Groups []Group
	// Without are the names of the collectors that no rule judges and that got none: the
	// configuration exports nothing that a rule of the kind needs.
	Without []string
	// LeftOver are the rules in the files that select what a collector of Options.Collectors
	// does not export.
	LeftOver []LeftOver
}

// Group is the rules for one collector.
type Group struct {
	Collector, Kind string
	// Alerts are the names of the rules.
	Alerts []string
}

// group is the rules for one collector.
type group struct {
	collector, kind string
	external        bool
	rules           []rule
}

// Options select what is written.
type Options struct {
	// Head is the comment at the beginning of both files, with a line break at its end.
	Head string
	// RulesName is the name of the rule file, as the test file refers to it.
	RulesName string
	// StateLabel is the label of the state; state if empty.
	StateLabel string
	// Collectors are the names of collectors that get rules although others judge them.
	Collectors []string
}

// chosenHead begins the line of the head that lists such collectors, so that later runs keep their
// rules.
const chosenHead = "# By --collector, also for: "

// Chosen returns the collectors that a rule file has rules for although others judge them.
func Chosen(file []byte) []string {
	_, after, found := strings.Cut(string(file), "\n"+chosenHead)
	if !found {
		return nil
	}
	line, _, _ := strings.Cut(after, "\n")
	return strings.Split(line, ", ")
}

// Make returns the first rules for the collectors that no rule in the files judges, and for those
// of Options.Collectors.
func Make(all []kinds.Config, files []*rules.File, o Options) (*Result, error) {
	names := newNames(files)
	var groups []group
	result, kept, present := &Result{}, []string{}, enforced(files)
	for i := range all {
		c := &all[i]
		_, kind := c.Kind()
		made, err := rulesOf(c, kind.Metrics(c.Name))
		if err != nil {
			return nil, err
		}
		warn := !slices.ContainsFunc(made.rules, rule.critical)
		judged, chosen := covered(files, kind.Metrics(c.Name), warn), slices.Contains(o.Collectors, c.Name)
		if chosen {
			result.LeftOver = append(result.LeftOver, leftOver(files, all, c)...)
		}
		if judged && !chosen {
			continue
		}
		if len(made.rules) == 0 {
			result.Without = append(result.Without, c.Name)
			continue
		}
		first := names.unique(c.Name, made.rules)
		for j, r := range made.rules {
			made.rules[j] = r.filled(subjectOf(c.Name, kind), first)
		}
		if made.rules = without(made.rules, present); len(made.rules) == 0 {
			continue
		}
		if judged {
			kept = append(kept, c.Name)
		}
		shown := Group{Collector: c.Name, Kind: made.kind}
		for _, r := range made.rules {
			shown.Alerts = append(shown.Alerts, r.Alert)
		}
		groups = append(groups, made)
		result.Groups = append(result.Groups, shown)
	}
	if len(kept) > 0 {
		o.Head += chosenHead + strings.Join(kept, ", ") + "\n"
	}
	result.Rules, result.Tests = o.rulesText(groups), o.testsText(groups)
	return result, nil
}

// critical reports whether the rule can fail its state.
func (r rule) critical() bool { return r.Labels["severity"] != rules.SeverityWarning }

// rulesOf returns the rules of the kind that apply to a collector. Their names are those of the
// template.
func rulesOf(c *kinds.Config, metrics []collectors.Metric) (group, error) {
	key, kind := c.Kind()
	made := group{collector: c.Name, kind: key, external: kind.External()}
	all, err := templateOf(key)
	if err != nil {
		return made, err
	}
	patience := 2 * c.Interval // a single lost collection decides nothing
	for _, r := range all {
		expr, err := promexpr.Parse(r.filled(subjectOf(c.Name, kind), "").Expr)
		if err != nil {
			return made, fmt.Errorf("first rules of %s: %s: %w", key, r.Alert, err)
		}
		if !applies(expr, metrics) {
			continue
		}
		if r.For != 0 {
			r.For = max(r.For, patience)
		}
		if i := slices.IndexFunc(made.rules, func(o rule) bool { return o.Alert == r.Alert }); i >= 0 {
			made.rules[i] = r
			continue
		}
		made.rules = append(made.rules, r)
	}
	return made, nil
}

// Others returns the rule files without the one at a path, whose rules are about to be replaced.
func Others(files []*rules.File, path string) []*rules.File {
	absolute, err := filepath.Abs(path)
	return slices.DeleteFunc(slices.Clone(files), func(f *rules.File) bool {
		name, other := filepath.Abs(f.Name)
		return err == nil && other == nil && name == absolute
	})
}

// longest returns the longest wait of the rules.
func longest(groups []group) time.Duration {
	var most model.Duration
	for _, g := range groups {
		for _, r := range g.rules {
			most = max(most, r.For)
		}
	}
	return time.Duration(most)
}
