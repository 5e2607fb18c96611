// Package verdicts renders the verdict of a state from a snapshot: as lines of text, as JSON, and as
// what an exec probe prints. No request reaches it.
package verdicts

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/text"
)

// maxVerdictText bounds the lines of a verdict. With its first line, of at most MaxLine
// bytes, an exec probe then prints less than the 4096 bytes that Docker keeps.
const maxVerdictText = 3 << 10

// View is a snapshot as it is read at one time.
type View struct {
	Snap *evaluator.Snapshot
	// Stalled is set if the snapshot was too old at that time.
	Stalled bool
}

// Of returns the verdict of a snapshot's state at now, and false if there is no state of that
// name.
func Of(snap *evaluator.Snapshot, name string, now time.Time) (execprobe.Verdict, bool) {
	st, ok := snap.State(name, now)
	if !ok {
		return execprobe.Verdict{}, false
	}
	return View{snap, snap.Stalled(now)}.At(st, now), true
}

// At returns the verdict of a state at now.
func (v View) At(st evaluator.State, now time.Time) execprobe.Verdict {
	out := execprobe.Verdict{
		State: st.Name, Verdict: st.Verdict.String(), Since: st.Since.UTC(), Reason: st.Reason,
		Stalled: v.Stale(st), AgeSeconds: now.Sub(v.Snap.At).Seconds(), Generation: v.Snap.Generation,
		Lines: []string{}, Rules: len(st.Rules),
	}
	for _, i := range st.Rules {
		switch v.Snap.Rules[i].Status {
		case evaluator.Failing:
			out.Failing++
		case evaluator.Unknown:
			out.Unknown++
		}
	}
	deciding, _ := v.deciding(st, nil)
	if st.Verdict == evaluator.Warn {
		deciding = st.Deciding
	}
	if len(deciding) > 0 {
		first := &v.Snap.Rules[deciding[0]]
		out.Rule, out.Status, out.ExitCode = first.Name, first.Status.String(), first.ExitCode
		if first.Observed != nil {
			out.Value, out.Range = formatValue(*first.Observed), rangeOf(first.Limit)
		}
	}
	switch st.Verdict {
	case evaluator.Fail:
		out.Lines = v.failingLines(st, nil)
	case evaluator.Warn:
		for _, i := range st.Deciding {
			out.Lines = append(out.Lines, text.Line(ruleText(&v.Snap.Rules[i]), MaxLine))
		}
	}
	out.Lines = boundedLines(out.Lines, maxVerdictText)
	if st.Verdict != evaluator.Fail {
		out.Pending = v.pending(st, now)
		out.Notes = append(v.silenced(st), v.notes(out.Lines)...)
		if v.Stalled {
			out.Notes = slices.Insert(out.Notes, 0, fmt.Sprintf("%s: the verdict is %.0f s old", evaluator.ReasonStalled, out.AgeSeconds))
		}
	}
	return out
}

// rangeOf returns the range in which a comparison holds in the notation of the
// Monitoring Plugins: outside of START:END, or inside with a leading @; ~ is negative
// infinity. Source: the Monitoring Plugins Development Guidelines, "Threshold and Ranges".
func rangeOf(limit *evaluator.Limit) string {
	if limit == nil {
		return ""
	}
	v := strconv.FormatFloat(limit.Value, 'f', -1, 64)
	const maxDigits = 24
	if math.IsInf(limit.Value, 0) || len(v) > maxDigits {
		return ""
	}
	return map[string]string{
		">": "~:" + v, "<": v + ":", ">=": "@" + v + ":", "<=": "@~:" + v, "==": "@" + v + ":" + v, "!=": v + ":" + v,
	}[limit.Op]
}

// notes returns the collectors' findings without those that the lines contain, and no more
// than fit into the first line of an exec probe.
func (v View) notes(lines []string) []string {
	var notes []string
	size, shown := 0, strings.Join(lines, "\n")
	for _, c := range v.Snap.Collectors {
		finding := c.Finding()
		if finding == "" || strings.Contains(shown, finding) {
			continue
		}
		if size > MaxLine {
			break
		}
		note := text.Line(c.Name+": "+finding, MaxLine)
		notes, size = append(notes, note), size+len(note)
	}
	return notes
}
