package verdicts

import (
	"slices"
	"strings"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

// Choice is how a client wants a state.
type Choice struct {
	// Verbose has a line for each rule.
	Verbose bool
	// Excluded are the names of the rules to ignore.
	Excluded map[string]bool
	// Unmatched are the excluded names that no rule of the state has, sorted.
	Unmatched []string
}

// Rule is what a probe of one rule responds with. Several rules of a state may have its name.
type Rule struct {
	// Rules are the indexes of the rules of this name; empty if there are none.
	Rules []int
	// Verdict is that of the rules alone, and Output is the first reason for its failure.
	Verdict evaluator.Verdict
	Output  string
	// Text has a line for each rule.
	Text string
}

// RuleOf returns the rule's own lines, without the state's reasons. A stalled snapshot fails every
// rule, because it is no longer evidence.
func (v View) RuleOf(st evaluator.State, name string) Rule {
	out := Rule{Verdict: evaluator.Pass}
	var lines strings.Builder
	for _, i := range st.Rules {
		rule := &v.Snap.Rules[i]
		if rule.Name != name {
			continue
		}
		out.Rules = append(out.Rules, i)
		lines.WriteString(v.ruleLine(rule, nil))
		if rule.Decides && out.Output == "" {
			out.Verdict, out.Output = evaluator.Fail, text.Line(ruleText(rule), MaxLine)
		} else if rule.Warns && out.Verdict == evaluator.Pass {
			out.Verdict = evaluator.Warn
		}
	}
	if v.Stale(st) {
		out.Verdict, out.Output = evaluator.Fail, st.Reason
		lines.WriteString(v.reasonLine(st))
	}
	out.Text = lines.String()
	return out
}

// Stale reports whether the state fails because the snapshot is too old. The status of
// its rules is then no longer evidence.
func (v View) Stale(st evaluator.State) bool {
	return v.Stalled && st.Reason == evaluator.ReasonStalled
}

// Without returns the state's verdict without the excluded rules. A state that fails
// for a reason other than a rule still fails.
func (v View) Without(st evaluator.State, excluded map[string]bool) evaluator.Verdict {
	if len(excluded) == 0 {
		return st.Verdict
	}
	counts := func(i int) bool { return !excluded[v.Snap.Rules[i].Name] }
	if st.Verdict == evaluator.Fail && (st.Reason != "" || len(st.Deciding) == 0 || slices.ContainsFunc(st.Deciding, counts)) {
		return evaluator.Fail
	}
	if slices.ContainsFunc(st.Rules, func(i int) bool { return v.Snap.Rules[i].Warns && counts(i) }) {
		return evaluator.Warn
	}
	return evaluator.Pass
}

// RuleNames returns the list of the state's rules for a 404.
func (v View) RuleNames(st evaluator.State) string {
	if len(st.Rules) == 0 {
		return "it has no rules"
	}
	var names []string
	for _, i := range st.Rules {
		names = append(names, v.Snap.Rules[i].Name)
	}
	return "its rules are " + text.Line(strings.Join(slices.Compact(names), ", "), MaxText/2)
}

// Text returns the Kubernetes text protocol with ?verbose, and otherwise the body
// of the plain probe. Both name unknown excludes.
func (v View) Text(st evaluator.State, verdict evaluator.Verdict, c Choice) string {
	var b strings.Builder
	switch {
	case c.Verbose:
		for _, i := range st.Rules {
			b.WriteString(v.ruleLine(&v.Snap.Rules[i], c.Excluded))
		}
		if st.Reason != "" {
			b.WriteString(v.reasonLine(st))
		}
	case verdict == evaluator.Fail:
		b.WriteString(v.FailingText(st, c.Excluded))
	default:
		b.WriteString("ok")
		if len(c.Unmatched) > 0 {
			b.WriteByte('\n')
		}
	}
	for _, warning := range c.warnings(st) {
		b.WriteString("warn: " + warning + "\n")
	}
	if c.Verbose && verdict == evaluator.Fail {
		b.WriteString(st.Name + " check failed\n")
	} else if c.Verbose {
		b.WriteString(st.Name + " check passed\n")
	}
	return b.String()
}

// warnings returns a warning about the excludes that have no effect.
func (c Choice) warnings(st evaluator.State) []string {
	if len(c.Unmatched) == 0 {
		return nil
	}
	return []string{text.Line("no rule of "+st.Name+" is named "+strings.Join(c.Unmatched, ", ")+": nothing excluded for it", MaxLine)}
}

// reasonLine returns the line of a state that fails without a rule.
func (v View) reasonLine(st evaluator.State) string {
	return "[-]" + st.Name + " " + v.Snap.Word(&st) + ": " + text.Line(st.Reason, MaxLine) + "\n"
}

// ruleLine returns a rule's line of the text protocol: [-] if it makes its state fail,
// or else [+], with the reason if the rule is not ok. A silenced rule has its end first.
func (v View) ruleLine(r *evaluator.Rule, excluded map[string]bool) string {
	line := "[+]" + r.Name + " " + r.Status.String()
	switch {
	case excluded[r.Name]:
		line = "[+]" + r.Name + " excluded: ok"
	case r.Silence != nil:
		line = "[+]" + r.Name + " silenced " + r.Silence.UntilText(v.Snap.At) + " (" + r.Status.String() + text.Either(r.Status == evaluator.OK, "", why(r)) + ")"
	case r.Status == evaluator.OK:
	case r.Decides:
		line = "[-]" + r.Name + " " + text.Either(r.Starting, evaluator.ReasonStarting+": ", "") + r.Status.String() + why(r)
	default:
		line += leniency(r) + why(r)
	}
	return text.Line(line, MaxLine+len("[+]")) + "\n"
}

// leniency returns why a rule that is not ok does not make its state fail.
func leniency(r *evaluator.Rule) string {
	switch {
	case r.Status == evaluator.Pending:
		return ""
	case r.Observe:
		return " (mode: observe)"
	case r.Severity == "warning":
		return " (severity: warning)"
	case r.Status == evaluator.Unknown && r.NoData != "":
		return " (no_data: " + r.NoData + ")"
	}
	return ""
}
