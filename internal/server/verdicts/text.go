package verdicts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// MaxText bounds a text, in bytes. The kubelet copies a failing body into an event of at most
	// 1 KiB; 4 KiB leave room for requests by hand.
	MaxText = 4 << 10
	// MaxLine bounds a line of it, in bytes.
	MaxLine = 512
)

// FailingText returns the body of a failing probe: the state's own reason, then one line
// per deciding rule, causes first, with their consequences below them.
func (v View) FailingText(st evaluator.State, excluded map[string]bool) string {
	return strings.Join(boundedLines(v.failingLines(st, excluded), MaxText), "\n") + "\n"
}

// failingLines returns the lines of FailingText without a bound on their number.
func (v View) failingLines(st evaluator.State, excluded map[string]bool) []string {
	var lines []string
	if st.Reason != "" {
		lines = append(lines, text.Line(st.Reason, MaxLine))
	}
	roots, folded := v.deciding(st, excluded)
	for _, i := range roots {
		lines = append(lines, text.Line(ruleText(&v.Snap.Rules[i]), MaxLine))
		if n := len(folded[i]); n > 0 {
			lines = append(lines, text.Line(fmt.Sprintf("... and %s: %s", text.Plural(n, "consequence"), strings.Join(folded[i], ", ")), MaxLine))
		}
	}
	if len(lines) == 0 {
		lines = []string{st.Name + " " + v.Snap.Word(&st)}
	}
	return lines
}

// deciding returns the indexes of the rules that make the state fail, without those
// whose cause is among them, and for each the names that are folded under it. A
// stalled snapshot has no deciding rules: it is no longer evidence.
func (v View) deciding(st evaluator.State, excluded map[string]bool) (roots []int, folded map[int][]string) {
	if v.Stale(st) || st.Verdict != evaluator.Fail {
		return nil, nil
	}
	byName := map[string]int{}
	var all []int
	for _, i := range st.Deciding {
		r := &v.Snap.Rules[i]
		if !r.Decides || excluded[r.Name] {
			continue
		}
		all = append(all, i)
		if _, seen := byName[r.Name]; !seen {
			byName[r.Name] = i
		}
	}
	folded = map[int][]string{}
	for _, i := range all {
		if root := v.root(i, byName); root != i {
			folded[root] = append(folded[root], v.Snap.Rules[i].Name)
		} else {
			roots = append(roots, i)
		}
	}
	return roots, folded
}

// root follows the causes of a rule as long as they are in byName. In a cycle, which
// the configuration rejects, it returns i.
func (v View) root(i int, byName map[string]int) int {
	at := i
	for range len(byName) {
		cause, ok := byName[v.Snap.Rules[at].Cause]
		if !ok {
			return at
		}
		at = cause
	}
	return i
}

// ruleText describes a rule that is not ok: that it has not been ok since the start, its
// name, its status, the reason, in brackets the value, since when and the cause, and then
// the collectors' notes.
func ruleText(r *evaluator.Rule) string {
	return text.Either(r.Starting, evaluator.ReasonStarting+": ", "") + r.Name + " " + r.Status.String() + why(r)
}

// why returns the part of a rule's line after its status.
func why(r *evaluator.Rule) string {
	found, note := r.Summary, ""
	if r.Status == evaluator.Unknown {
		found = r.Reason
		if r.Summary != "" && r.AlertCount == 0 {
			found += "; cannot determine whether this holds: " + r.Summary
		}
	}
	if r.Note != "" {
		note = ": " + r.Note
	}
	var facts []string
	if r.Observed != nil {
		facts = append(facts, "value "+formatValue(*r.Observed))
	}
	if !r.Since.IsZero() {
		facts = append(facts, "since "+r.Since.UTC().Format(time.RFC3339))
	}
	if r.HeldFor > 0 {
		facts = append(facts, "held for "+text.Duration(r.HeldFor)+" more")
	}
	if r.AlertCount > 1 {
		facts = append(facts, text.Plural(r.AlertCount, "alert"))
	}
	if r.Cause != "" {
		facts = append(facts, "caused by "+r.Cause)
	}
	// The facts stay whole: a long reason is cut for them, and a line that is still too
	// long is cut at its end, in the note.
	tail := ""
	if len(facts) > 0 {
		tail = " (" + strings.Join(facts, ", ") + ")"
	}
	if found == "" {
		return tail + note
	}
	return ": " + text.Line(found, max(MaxLine/4, MaxLine-len(tail)-len(note)-len(r.Name)-64)) + tail + note
}

// boundedLines returns as many lines as fit into limit bytes with their line feeds, and
// then the number of omitted lines.
func boundedLines(lines []string, limit int) []string {
	size := 0
	for i, l := range lines {
		left, reserve := len(lines)-i, 0
		if left > 1 {
			reserve = len("... and 1000000 more lines\n")
		}
		if size += len(l) + 1; size > limit-reserve {
			return append(slices.Clone(lines[:i]), "... and "+text.Plural(left, "more line"))
		}
	}
	return lines
}

// formatValue writes a float as /metrics does: NaN, +Inf and -Inf included.
func formatValue(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
