package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/firstrules"
	"github.com/vitals-health/vitals/internal/schema"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/internal/text"
)

// The names of the files of generate rules.
const (
	generatedRules = "generated-rules.yml"
	generatedTests = "generated-rules_test.yml"
)

// generatedHead is the comment at the beginning of generated rule files.
const generatedHead = `# Made by "vitals generate rules" for collectors that no other rule judges.
# To change a rule, move it to a file of your own: it is then not generated again.
`

// generateRules declares the command generate rules.
func (p *program) generateRules(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("rules", "Write first rules, with unit tests, for the collectors of a configuration that no rule judges yet. They come from the kinds of the collectors.")
	p.configFlags(cmd)
	var names []string
	cmd.Flag("collector", "A collector that gets rules although others judge it, such as one whose kind has changed. Rules that are left over from another kind are named. Repeatable.").PlaceHolder("NAME").StringsVar(&names)
	out := outputFlags(cmd, ".")
	cmd.Action(do(func() int { return p.writeRules(names, out) }))
}

// writeRules is the command generate rules, with the values of --collector.
func (p *program) writeRules(names []string, out *output) int {
	l, errs := p.load()
	if len(errs) == 0 {
		errs = unknownCollectors(names, l)
	}
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	path := filepath.Join(out.dir, generatedRules)
	if before, err := config.ReadFile(path); err == nil {
		names = append(names, firstrules.Chosen(before)...)
	}
	others := firstrules.Others(l.Rules, path)
	made, err := firstrules.Make(l.Config.Collectors, others, firstrules.Options{
		Head: generatedHead, RulesName: generatedRules, StateLabel: l.Config.StateLabel, Collectors: names,
	})
	if err != nil {
		return p.fail(err)
	}
	for _, name := range made.Without {
		fmt.Fprintf(p.stderr, "no rule for %s: under its configuration, it exports nothing that the rules of its kind need\n", name)
	}
	for _, r := range made.LeftOver {
		fmt.Fprintf(p.stderr, "%s:%d: rule %s is left over: %s (%s) never exports %s: remove the rule or change its selector\n", r.File, r.Line, r.Rule, r.Collector, r.Kind, r.Selector)
	}
	if before, err := existingFile(path, nil); len(made.Groups) == 0 && before == isMissing && err == nil {
		fmt.Fprintln(p.stdout, "nothing to write: rules judge every collector")
		return exitOK
	}
	for _, g := range made.Groups {
		fmt.Fprintf(p.stdout, "%s (%s): %s\n", g.Collector, g.Kind, strings.Join(g.Alerts, ", "))
	}
	code := p.put([]dashboards.File{
		{Name: generatedRules, Data: []byte(schema.Modeline(schema.RulesName) + "\n" + string(made.Rules))},
		{Name: generatedTests, Data: made.Tests},
	}, out)
	if code == exitOK && len(others) == len(l.Rules) && len(made.Groups) > 0 && !out.check {
		fmt.Fprintf(p.stdout, "The configuration does not load %s yet: add it to rule_files. It has rules for %s.\n", generatedRules, text.Plural(len(made.Groups), "collector"))
	}
	return code
}

// unknownCollectors returns an error for each name that no collector of the configuration has.
func unknownCollectors(names []string, l *config.Loaded) []error {
	var known []string
	for i := range l.Config.Collectors {
		known = append(known, l.Config.Collectors[i].Name)
	}
	var errs []error
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		const most = 200 // bytes of the names in the error
		cure := "expected one of " + text.Clip(strings.Join(known, ", "), most)
		if near := strictyaml.Nearest(name, known); near != "" {
			cure = fmt.Sprintf("did you mean %q? %s", near, cure)
		}
		errs = append(errs, fmt.Errorf("--collector=%s: there is no such collector: %s", name, cure))
	}
	return errs
}
