package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/internal/firstrules"
	"github.com/vitals-health/vitals/internal/schema"
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
	out := outputFlags(cmd, ".")
	cmd.Action(do(func() int { return p.writeRules(out) }))
}

// writeRules is the command generate rules.
func (p *program) writeRules(out *output) int {
	l, errs := p.load()
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	path := filepath.Join(out.dir, generatedRules)
	others := firstrules.Others(l.Rules, path)
	made, err := firstrules.Make(l.Config.Collectors, others, firstrules.Options{
		Head: generatedHead, RulesName: generatedRules, StateLabel: l.Config.StateLabel,
	})
	if err != nil {
		return p.fail(err)
	}
	for _, name := range made.Without {
		fmt.Fprintf(p.stderr, "no rule for %s: under its configuration, it exports nothing that the rules of its kind need\n", name)
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
