package dashboards

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/rules"
)

// ruleTexts are the texts of rules for which no metric has a label, by the rules' names. A
// table shows them in the place of the name, by the mappings of a column.
type ruleTexts struct {
	summaries, expressions, durations, runbooks map[string]string
	links                                       linksTo
}

// newRuleTexts returns the texts of the rules in files.
func newRuleTexts(files []*rules.File, links linksTo) ruleTexts {
	t := ruleTexts{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, links}
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" {
					t.add(r)
				}
			}
		}
	}
	return t
}

// shippedRules returns the shipped rule files.
func shippedRules() []*rules.File {
	names, err := fs.Glob(rules.Shipped(), "*.yml")
	if err != nil {
		panic("internal error: " + err.Error()) // the pattern is a constant
	}
	var all []*rules.File
	for _, name := range names {
		data, err := fs.ReadFile(rules.Shipped(), name)
		if err != nil {
			panic("internal error: " + err.Error()) // Glob found it
		}
		f, _ := rules.Parse(name, data, []string{"ready", "alive", "started"})
		all = append(all, f)
	}
	return all
}

// add adds the texts of a rule. Rules of the same name that differ share a cell.
func (t ruleTexts) add(r rules.Rule) {
	join := func(texts map[string]string, text string) {
		if has := texts[r.Alert]; has == "" {
			texts[r.Alert] = text
		} else if !slices.Contains(strings.Split(has, " | "), text) {
			texts[r.Alert] = has + " | " + text
		}
	}
	join(t.summaries, cmp.Or(plain(r.Annotations["summary"]), "-"))
	join(t.expressions, strings.Join(strings.Fields(r.AST.String()), " "))
	join(t.durations, model.Duration(r.For).String())
	if url := r.Annotations["runbook_url"]; url != "" && t.runbooks[r.Alert] == "" {
		t.runbooks[r.Alert] = url
	}
}

var (
	action = regexp.MustCompile(`\{\{.*?\}\}`)
	labelX = regexp.MustCompile(`\$labels\.(\w+)`)
)

// plain replaces the values in a template, which only a firing alert has, by their names. It
// leaves out what depends on a condition or a query.
func plain(text string) string {
	var b strings.Builder
	depth, from := 0, 0
	keep := func(part string) {
		if depth == 0 {
			b.WriteString(part)
		}
	}
	for _, at := range action.FindAllStringIndex(text, -1) {
		before, inside := text[from:at[0]], strings.TrimSuffix(text[at[0]+2:at[1]-2], "-")
		trimmed, trims := strings.CutPrefix(inside, "-")
		if trims {
			before = strings.TrimRight(before, " \n")
		}
		keep(before)
		from = at[1]
		switch word, _, _ := strings.Cut(strings.TrimSpace(trimmed), " "); word {
		case "if", "range", "with":
			depth++
		case "end":
			depth--
		default:
			keep(valueIn(trimmed))
		}
	}
	keep(text[from:])
	return b.String()
}

// valueIn returns the name of the value that an action of a template prints.
func valueIn(action string) string {
	if m := labelX.FindStringSubmatch(action); m != nil {
		return "(" + m[1] + ")"
	}
	if strings.Contains(action, "$value") {
		return "(value)"
	}
	return "..."
}

// known returns the display of a column that has the names of rules, with their texts.
func known(texts map[string]string, otherwise string) display {
	return display{texts: texts, otherwise: otherwise}
}

// runbook returns the column with the addresses of runbooks.
func (t ruleTexts) runbook() display {
	return known(t.runbooks, strings.ReplaceAll(t.links.runbooks, "NAME", "$1"))
}

// named returns the expression with labels that repeat the name of the rule.
func named(expr string, labels ...string) string {
	for _, l := range labels {
		expr = `label_replace(` + expr + `, "` + l + `", "$1", "rule", "(.*)")`
	}
	return expr
}

// table returns the table of what the rule file has about the chosen rule.
func (t ruleTexts) table() panel {
	const missing = "not in the files for which this dashboard was generated: see --rules"
	summary, expression, lasts, runbook := known(t.summaries, missing), known(t.expressions, "-"), known(t.durations, "-"), t.runbook()
	const of = `vitals_rule_info{` + ofRule + `,$vitals} or on (job, instance, rule, state) vitals_rule_status{status="ok",` + ofRule + `,$vitals}`
	return table("What the rule is",
		"The severity of the rule, how long its expression must be true before it fails, the expression, the summary and the runbook. Texts are those of the shipped rule files and of the files for which the dashboards were generated.",
		"No such rule is evaluated",
		[]column{
			{field: "state", title: "State"}, {field: "severity", title: "Severity"}, {field: "lasts", title: "For", display: &lasts},
			{field: "summary", title: "Summary", display: &summary}, {field: "expression", title: "Expression", display: &expression},
			{field: "runbook", title: "Runbook", display: &runbook, links: []dataLink{{"Runbook", "${__value.text}", true}}},
		},
		now(`max by (state, severity, lasts, summary, expression, runbook) (`+named("("+of+")", "lasts", "summary", "expression", "runbook")+`)`, ""))
}

// sortedNames returns the names that have a text.
func sortedNames(texts map[string]string) []string { return slices.Sorted(maps.Keys(texts)) }

// baseName returns the name of a rule file without its folder and its ending.
func baseName(f *rules.File) string {
	name := filepath.Base(strings.TrimPrefix(f.Name, "builtin:"))
	return strings.TrimSuffix(name, filepath.Ext(name))
}
