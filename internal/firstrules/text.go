package firstrules

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/rules"
)

// rulesText returns the rule file.
func (o Options) rulesText(groups []group) []byte {
	var b bytes.Buffer
	b.WriteString(o.Head)
	if len(groups) == 0 {
		b.WriteString("groups: []\n")
		return b.Bytes()
	}
	b.WriteString("groups:\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "  - name: %s\n    rules:\n", quoted(g.collector))
		for _, r := range g.rules {
			if g.external && r.critical() {
				fmt.Fprintf(&b, "      # vitals:accept V002 without %s no replica works; if one does, make this a warning\n", g.collector)
			}
			o.ruleText(&b, r)
		}
	}
	return b.Bytes()
}

func (o Options) ruleText(b *bytes.Buffer, r rule) {
	fmt.Fprintf(b, "      - alert: %s\n", r.Alert)
	if lines, ok := strings.CutSuffix(r.Expr, "\n"); ok {
		fmt.Fprintf(b, "        expr: |\n          %s\n", strings.ReplaceAll(lines, "\n", "\n          "))
	} else {
		fmt.Fprintf(b, "        expr: %s\n", quoted(r.Expr))
	}
	if r.For != 0 {
		fmt.Fprintf(b, "        for: %s\n", r.For)
	}
	fmt.Fprintf(b, "        labels: {%s: %s, severity: %s}\n", o.stateLabel(), r.Labels["state"], r.Labels["severity"])
	b.WriteString("        annotations:\n")
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(r.Annotations))) { // the summary first
		fmt.Fprintf(b, "          %s: %s\n", name, quoted(r.Annotations[name]))
	}
}

func (o Options) stateLabel() string { return cmp.Or(o.StateLabel, rules.DefaultStateLabel) }

// The unit test has a sample a minute: well values for a time, and then bad ones until each rule
// fails.
const (
	sampleEvery = time.Minute
	wellFor     = 10 * time.Minute
	wellAt      = 5 * time.Minute
)

// testsText returns the test file: one test that all rules are ok, and one for each collector in
// which each of its rules fails.
func (o Options) testsText(groups []group) []byte {
	var b bytes.Buffer
	b.WriteString(o.Head)
	fmt.Fprintf(&b, "rule_files: [%s]\n", quoted(o.RulesName))
	if label := o.stateLabel(); label != rules.DefaultStateLabel {
		fmt.Fprintf(&b, "state_label: %s\n", label)
	}
	if len(groups) == 0 {
		b.WriteString("tests: []\n")
		return b.Bytes()
	}
	b.WriteString("evaluation_interval: 30s\ntests:\n")
	badFor := (2*longest(groups) + wellFor).Truncate(sampleEvery)
	b.WriteString("  - name: all is well\n    interval: 1m\n    input_series:\n")
	for _, g := range groups {
		g.seriesText(&b, func(well, _ string) string { return fmt.Sprintf("%sx%d", well, wellFor/sampleEvery) })
	}
	b.WriteString("    state_test:\n")
	for _, state := range statesOf(groups) {
		fmt.Fprintf(&b, "      - {eval_time: %s, state: %s, verdict: pass}\n", model.Duration(wellAt), state)
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "  - name: %s\n    interval: 1m\n    input_series:\n", quoted(g.collector+" fails"))
		g.seriesText(&b, func(well, bad string) string {
			return fmt.Sprintf("%sx%d %sx%d", well, wellFor/sampleEvery-1, bad, badFor/sampleEvery)
		})
		b.WriteString("    state_test:\n")
		for _, state := range statesOf([]group{g}) {
			fmt.Fprintf(&b, "      - {eval_time: %s, state: %s, rules: {%s}}\n", model.Duration(wellAt), state, g.statuses(state, "ok"))
			fmt.Fprintf(&b, "      - {eval_time: %s, state: %s, rules: {%s}}\n", model.Duration(wellFor+badFor-sampleEvery), state, g.statuses(state, "failing"))
		}
	}
	return b.Bytes()
}

// seriesText writes the input series of a collector, each once.
func (g group) seriesText(b *bytes.Buffer, values func(well, bad string) string) {
	all := map[string]string{}
	for _, r := range g.rules {
		maps.Copy(all, r.Test)
	}
	for _, series := range slices.Sorted(maps.Keys(all)) {
		well, bad, _ := strings.Cut(all[series], " ")
		fmt.Fprintf(b, "      - {series: %s, values: %s}\n", singleQuoted(series), singleQuoted(values(well, bad)))
	}
}

// statuses returns the rules of a state, each with a status.
func (g group) statuses(state, status string) string {
	var all []string
	for _, r := range g.rules {
		if r.Labels["state"] == state {
			all = append(all, r.Alert+": "+status)
		}
	}
	return strings.Join(all, ", ")
}

// statesOf returns the states of the rules, sorted.
func statesOf(groups []group) []string {
	found := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.rules {
			found[r.Labels["state"]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// quoted returns a text as a YAML scalar, with quotes where YAML needs them.
func quoted(text string) string {
	begin := text[0]
	letter := begin >= 'a' && begin <= 'z' || begin >= 'A' && begin <= 'Z'
	word := slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text))
	if !letter || word || strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") || strings.ContainsAny(text, "\n[],") && !strings.Contains(text, " ") {
		return singleQuoted(text)
	}
	return text
}

func singleQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
