package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxLine bounds a line, in bytes.
	maxLine = 500
	// maxFailure bounds the error of a collector, in bytes, unless one rule or all are
	// explained.
	maxFailure = 120
	// maxColumn is where the value of an expression begins at the latest, unless the
	// expression is longer: behind it, most values fit the 80 columns of a terminal.
	maxColumn = 52
)

// textWriter writes an explanation for people: what matters first, on one screen.
type textWriter struct {
	x *Explanation
	// whole is set to include what decides nothing: the trees of rules that have a cause,
	// and elements and parts that do not make the rule true.
	whole bool
	lines []textLine
	// named are the collectors that were mentioned.
	named []string
}

// textLine is a line of two columns.
type textLine struct {
	depth       int
	left, right string
}

// Text returns an explanation for people. whole includes parts that decide nothing. by
// is where the explanation comes from, or "" for a daemon.
func Text(x *Explanation, whole bool, by string) string {
	t := &textWriter{x: x, whole: whole}
	var b strings.Builder
	paragraph := func(title string) {
		t.flush(&b, title)
		b.WriteByte('\n')
	}
	paragraph(t.head())
	for _, r := range x.Rules {
		t.rule(r)
		paragraph(t.ruleHead(r))
	}
	if x.LeftOut > 0 {
		paragraph(fmt.Sprintf("... and %s: --rule=NAME explains one", text.Plural(x.LeftOut, "more rule")))
	}
	for _, c := range x.Collectors {
		if slices.Contains(t.named, c.Name) || !c.Ran && len(x.Rules) == 0 {
			t.collector(c)
		}
	}
	if len(t.lines) > 0 {
		paragraph("collectors:")
	}
	if by == "" {
		by = "generation " + strconv.FormatUint(x.Generation, 10)
	}
	return b.String() + "as of " + x.At.UTC().Format(time.DateTime) + " UTC, " + by + "\n"
}

// flush writes the lines below a title, the right column in one place.
func (t *textWriter) flush(b *strings.Builder, title string) {
	b.WriteString(text.Line(title, maxLine) + "\n")
	column := 0
	for _, l := range t.lines {
		if width := 2*l.depth + len(l.left) + 2; l.right != "" && width <= maxColumn {
			column = max(column, width)
		}
	}
	for _, l := range t.lines {
		line := strings.Repeat("  ", l.depth) + l.left
		if l.right != "" {
			line += strings.Repeat(" ", max(column-len(line), 2)) + l.right
		}
		b.WriteString(text.Line(line, maxLine) + "\n")
	}
	t.lines = nil
}

func (t *textWriter) add(depth int, left, right string) {
	t.lines = append(t.lines, textLine{depth, left, right})
}

// head returns the line of the state's verdict.
func (t *textWriter) head() string {
	x := t.x
	facts := []string{x.State + ": " + x.Status + t.since(x.Since)}
	if x.Reason != "" {
		facts = append(facts, x.Reason)
	}
	of := fmt.Sprintf("%d of %s", x.Deciding, text.Plural(x.RuleCount, "rule"))
	switch {
	case x.RuleCount == 0 && x.Reason == "":
		facts = append(facts, "it has no rules")
	case x.Verdict != "pass" && x.Deciding > 0:
		facts = append(facts, "decided by "+of)
	case x.Verdict == "pass" && x.RuleCount == 1:
		facts = append(facts, "its only rule does not make it fail")
	case x.Verdict == "pass":
		facts = append(facts, fmt.Sprintf("none of its %d rules makes it fail", x.RuleCount))
	}
	return strings.Join(facts, ", ")
}

// ruleHead returns the line of a rule: its status, since when and why.
func (t *textWriter) ruleHead(r *Rule) string {
	text := r.Name + " " + r.Status + t.since(r.Since)
	switch {
	case r.State == "":
		text += ", an alert without a state"
	case r.State != t.x.State:
		text += ", a rule of " + r.State
	}
	switch {
	case r.Silence != nil:
		text += ", silenced " + strings.TrimSpace(r.Silence.UntilText(t.x.At)+" "+r.Silence.Why())
	case r.Observe:
		text += ", observed only"
	case r.Severity == "warning":
		text += ", a warning only"
	}
	if r.Starting {
		text += ", not ok since the start"
	}
	if r.Cause != "" {
		text += ", caused by " + r.Cause
	}
	why := r.Summary
	if r.Status == "unknown" {
		why = r.Reason
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

// annotations adds what the rule's author wrote for its readers.
func (t *textWriter) annotations(r *Rule) {
	if r.Description != "" {
		t.add(1, "description: "+r.Description, "")
	}
	if r.RunbookURL != "" && len(t.x.Rules) == 1 { // several rules must fit on a screen
		t.add(1, "runbook: "+r.RunbookURL, "")
	}
	var own []string
	for name, value := range r.Labels {
		own = append(own, name+"="+strconv.Quote(value))
	}
	if len(own) > 0 {
		slices.Sort(own)
		t.add(1, "labels: "+strings.Join(own, ", "), "")
	}
}

// rule adds the lines below a rule's head.
func (t *textWriter) rule(r *Rule) {
	if t.follows(r) {
		return
	}
	if r.Status == "unknown" && r.Summary != "" {
		t.add(1, "cannot determine whether this holds: "+r.Summary, "")
	}
	if r.Status == "unknown" && r.State != "" {
		t.add(1, "no_data: "+r.NoData+held(r), "")
	}
	if r.Status != "unknown" && r.Reason != "" {
		t.add(1, "error: "+r.Reason, "")
	}
	if r.Note != "" {
		t.add(1, "note: "+r.Note, "")
	}
	t.annotations(r)
	if text := t.timing(r); text != "" {
		t.add(1, text, "")
	}
	if !r.Evaluated.IsZero() {
		t.add(1, fmt.Sprintf("evaluated %s, by its group's own interval", t.ago(r.Evaluated)), "")
	}
	if !r.AsOf.IsZero() {
		t.add(1, fmt.Sprintf("as of %s, by its group's query_offset", t.ago(r.AsOf)), "")
	}
	if r.Tree == nil {
		t.add(1, r.Expr, "left out, as this is too much already: --rule="+r.Name)
		return
	}
	if len(r.Expr) > maxPart && r.Tree.Short != "" {
		t.add(1, r.Expr, "")
	}
	t.node(r.Tree, 1, true)
}

// held returns how long the rule's last status still counts.
func held(r *Rule) string {
	if r.HeldForSeconds == 0 {
		return ""
	}
	return ", held for " + text.Duration(time.Duration(r.HeldForSeconds*float64(time.Second))) + " more"
}

// follows reports whether a rule has a cause that is explained as well.
func (t *textWriter) follows(r *Rule) bool {
	return !t.whole && slices.ContainsFunc(t.x.Rules, func(cause *Rule) bool {
		return cause.Name == r.Cause
	})
}

// timing returns since when the expression is true and when the rule fires.
func (t *textWriter) timing(r *Rule) string {
	if len(r.Alerts) == 0 {
		return ""
	}
	first := r.Alerts[0]
	text := "true" + t.since(first.ActiveAt)
	if first.Firing && r.ForSeconds == 0 && first.ActiveAt.Sub(r.Since).Abs() < time.Second {
		text = "" // the head has it
	}
	switch {
	case !first.KeptUntil.IsZero():
		text = "no longer true; keep_firing_for keeps it until " + t.until(first.KeptUntil)
	case !first.Firing:
		text += ": fires at " + t.until(first.FiresAt)
	case r.ForSeconds > 0:
		text += ", for " + spanOf(r.ForSeconds) + ": fires since " + t.clock(first.FiresAt)
	}
	if r.AlertCount > 1 {
		text = strings.TrimPrefix(text+fmt.Sprintf("; first of %d alerts", r.AlertCount), "; ")
	}
	return text
}

// collector adds the line of a collector.
func (t *textWriter) collector(c Collector) {
	left := c.Name + " (" + c.Kind + ")"
	if c.External {
		left = c.Name + " (" + c.Kind + ", external)"
	}
	switch {
	case !c.Ran:
		t.add(1, left, "no collection has finished yet")
	case c.Success:
		t.add(1, left, "succeeded "+t.ago(c.LastRun))
	default:
		success := "never succeeded"
		if !c.LastSuccess.IsZero() {
			success = "last success " + t.ago(c.LastSuccess)
		}
		failure := c.Error
		if !t.whole {
			failure = text.Line(failure, maxFailure)
		}
		t.add(1, left, fmt.Sprintf("failed %s, %s: %s", t.ago(c.LastRun), success, failure))
	}
}

// since returns a time and how long ago it was; nothing for the zero time.
func (t *textWriter) since(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " since " + t.clock(at) + " (" + text.Span(t.x.At.Sub(at)) + ")"
}

func (t *textWriter) until(at time.Time) string {
	if left := at.Sub(t.x.At); left > 0 {
		return t.clock(at) + " (in " + text.Span(left) + ")"
	}
	return "the next evaluation"
}

func (t *textWriter) ago(at time.Time) string {
	if age := t.x.At.Sub(at); age >= time.Second {
		return text.Span(age) + " ago"
	}
	return "just now"
}

// clock returns the time of day in UTC, with the date where it is not the explanation's.
func (t *textWriter) clock(at time.Time) string {
	at = at.UTC()
	if at.Format(time.DateOnly) == t.x.At.UTC().Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// spanOf returns a duration of the configuration without rounding.
func spanOf(seconds float64) string {
	text := time.Duration(seconds * float64(time.Second)).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// figure returns a number without an exponent unless it is too long for that, and with
// at most 6 decimals, or 10 below 1.
func figure(n Number) string {
	if size := math.Abs(float64(n)); size == 0 || size >= 1e-4 && size < 1e15 {
		decimals := 6
		if size < 1 {
			decimals = 10
		}
		text := strconv.FormatFloat(float64(n)+0, 'f', -1, 64) // -0 becomes 0
		if point := strings.IndexByte(text, '.'); point >= 0 && len(text)-point-1 > decimals {
			text = strings.TrimRight(strconv.FormatFloat(float64(n), 'f', decimals, 64), "0")
			text = strings.TrimSuffix(text, ".")
		}
		return text
	}
	return n.String()
}
