package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/internal/schema"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

// output has the flags for the output of generated files.
type output struct {
	dir string
	// check compares files instead of writing them.
	check bool
}

// generateCommand declares the commands that generate files for other programs.
func (p *program) generateCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	generate := app.Command("generate", "Generate files for Grafana, Prometheus and editors.")
	p.generateDashboards(generate, do)
	p.generateAlerts(generate, do)
	p.generateRBAC(generate, do)
	p.generateProbes(generate, do)
	p.generateManifests(generate, do)
	p.generateSchema(generate, do)
	p.generateRules(generate, do)
}

// generateSchema declares the command generate schema.
func (p *program) generateSchema(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("schema", "Write the JSON Schemas of the configuration and of rule files, with which editors complete and check them.")
	out := outputFlags(cmd, ".")
	cmd.Action(do(func() int {
		return p.put([]dashboards.File{
			{Name: schema.ConfigName, Data: schema.Config()},
			{Name: schema.RulesName, Data: schema.Rules()},
		}, out)
	}))
}

// generateDashboards declares the command generate dashboards.
func (p *program) generateDashboards(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("dashboards", "Write Grafana dashboards of Vitals and, with --rules, one of those rules, and the files with which Grafana and Kubernetes load them.")
	var names []string
	var rule rules.Options
	opts := dashboards.Options{Identity: kinds.IdentityLabels(), Labels: labelsOfMetrics()}
	cmd.Flag("rules", "A rule file for the dashboard rules.json, or builtin:NAME for a shipped one. Repeatable: all files share one dashboard, with sections of their own.").PlaceHolder("FILE").StringsVar(&names)
	cmd.Flag("state", "A state that the rules may name, in addition to ready, alive and started. Repeatable.").StringsVar(&rule.States)
	stateLabelFlag(cmd, &rule.StateLabel)
	cmd.Flag("runbook-url", "The address of a runbook of rules without the annotation runbook_url, with NAME for the name of the rule.").Default(dashboards.DefaultRunbooks).StringVar(&opts.Runbooks)
	cmd.Flag("page-url", "The address of the status page of an instance of Vitals, with INSTANCE, POD and NAMESPACE for its labels.").Default(dashboards.DefaultPage).StringVar(&opts.Page)
	out := outputFlags(cmd, "dashboards")
	cmd.Action(do(func() int {
		var errs []error
		if opts.Rules, errs = rulecheck.ReadApart(names, rule); len(errs) > 0 {
			return p.fail(errs...)
		}
		return p.put(dashboards.Files(opts), out)
	}))
}

// stateLabelFlag declares the flag for the label of the state in rules.
func stateLabelFlag(cmd *kingpin.CmdClause, label *string) {
	cmd.Flag("state-label", "The label that makes an alert a rule of a state: the state_label of the configuration.").PlaceHolder("LABEL").SetValue((*stateLabel)(label))
}

// stateLabel is the value of the flag for the label of the state.
type stateLabel string

// Set implements kingpin.Value.
func (l *stateLabel) Set(label string) error {
	*l = stateLabel(label)
	if text := rules.StateLabelProblem(label); text != "" {
		return fmt.Errorf("--state-label=%s: %s", label, text)
	}
	return nil
}

// String implements kingpin.Value.
func (l *stateLabel) String() string { return string(*l) }

// outputFlags declares the flags for the output of generated files.
func outputFlags(cmd *kingpin.CmdClause, dir string) *output {
	out := &output{}
	cmd.Flag("out", "The output directory. It is created if it does not exist. If it has a file of the same name that was not generated, the command fails and writes nothing.").Default(dir).StringVar(&out.dir)
	cmd.Flag("check", "Write nothing. Report the files that are missing or differ, and exit with 1 if there are any.").BoolVar(&out.check)
	return out
}

// existing is the state of a file in the place of a generated one.
type existing int

const (
	isMissing existing = iota
	isSame
	// isOlder is a different generated file.
	isOlder
	// isForeign is a file that was not generated.
	isForeign
)

// existingFile compares the file in the place of a generated one with its data.
func existingFile(path string, data []byte) (existing, error) {
	is, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return isMissing, nil
	case err != nil:
		return isMissing, err
	case bytes.Equal(is, data):
		return isSame, nil
	case dashboards.Generated(is):
		return isOlder, nil
	}
	return isForeign, nil
}

// put writes generated files, or compares them with the existing ones, and reports the result
// for each. It writes nothing if it would replace a file that was not generated.
func (p *program) put(files []dashboards.File, out *output) int {
	found := make([]existing, len(files))
	var errs []error
	for i, f := range files {
		var err error
		path := filepath.Join(out.dir, f.Name)
		if found[i], err = existingFile(path, f.Data); err != nil {
			errs = append(errs, err)
		}
		if found[i] == isForeign && !out.check {
			errs = append(errs, fmt.Errorf("%s: was not made by vitals generate, and is not replaced: move it, or choose another directory with --out", path))
		}
	}
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	different := 0
	for i, f := range files {
		path := filepath.Join(out.dir, f.Name)
		if found[i] != isSame && out.check {
			different++
		} else if found[i] != isSame {
			if err := writeGenerated(path, f.Data); err != nil {
				return p.fail(err)
			}
		}
		fmt.Fprintf(p.stdout, "%s: %s\n", path, found[i].result(out.check))
	}
	if different > 0 {
		fmt.Fprintf(p.stderr, "%s not as generated; run the same command without --check to write them\n", text.Plural(different, "file"))
		return exitFailing
	}
	return exitOK
}

// result describes the result for a file.
func (f existing) result(check bool) string {
	switch {
	case f == isSame:
		return "up to date"
	case check && f == isMissing:
		return "is missing"
	case check && f == isForeign:
		return "differs from what is generated, and was not made by vitals generate"
	case check:
		return "differs from what is generated"
	case f == isMissing:
		return "written"
	}
	return "replaced, it differed"
}

func writeGenerated(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
