package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

// Line returns an event as one line for people: when, what, from which status to which, for
// how long that lasted, and why. Times are in UTC.
func Line(e *Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-9s %s", e.At.UTC().Format(time.DateTime), e.Kind, e.Name)
	switch {
	case e.Kind == Process:
		return b.String() + ": " + e.Reason
	case e.Action != "":
		return strings.TrimSuffix(b.String()+" "+e.Action+" "+e.Reason, " ")
	case e.From == None:
		fmt.Fprintf(&b, " is %s", e.To)
	default:
		fmt.Fprintf(&b, " %s -> %s", e.From, e.To)
	}
	switch {
	case e.Changes > 1:
		fmt.Fprintf(&b, ", %d changes in %s", e.Changes, text.Span(e.At.Sub(e.Begin)))
		if e.FailingSeconds > 0 {
			b.WriteString(", failing " + text.Span(seconds(e.FailingSeconds)))
		}
	case e.LastedSeconds > 0:
		fmt.Fprintf(&b, " after %s", text.Span(seconds(e.LastedSeconds)))
	}
	if why := e.why(); why != "" && (e.To != OK || e.Changes > 1) {
		b.WriteString(": " + why)
	}
	return b.String()
}

// why returns the first reason of an event.
func (e *Event) why() string {
	if e.Reason != "" || len(e.Rules) == 0 {
		return e.Reason
	}
	r := &e.Rules[0]
	why := Why(r.Status == Unknown, r.Summary, cmp.Or(r.Reason, r.Note))
	if e.Kind == State {
		why = strings.TrimSuffix(r.Name+": "+why, ": ")
	}
	return why
}

// Why returns what is wrong by a rule: its summary. That of a rule without evidence may not
// hold, and follows the reason.
func Why(unknown bool, summary, reason string) string {
	switch {
	case !unknown || reason == "":
		return cmp.Or(summary, reason)
	case summary == "":
		return reason
	}
	return reason + "; " + undetermined + summary
}

// undetermined introduces the summary of a rule without evidence.
const undetermined = "cannot determine whether this holds: "

// Text returns an event with all that explains it, as lines for people.
func Text(e *Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (generation %d)\n", Line(e), e.Generation)
	if e.Worst != None {
		fmt.Fprintf(&b, "  from %s, %s at %s:\n", e.Begin.UTC().Format(time.DateTime), e.Worst, e.WorstAt.UTC().Format(time.DateTime))
	}
	_, at := e.worst()
	for i := range e.Rules {
		e.Rules[i].write(&b, at)
	}
	if more := e.RuleCount - len(e.Rules); more > 0 {
		fmt.Fprintf(&b, "  and %s more\n", text.Plural(more, "rule"))
	}
	return b.String()
}

// write writes a rule at the moment of an event.
func (r *RuleMoment) write(b *strings.Builder, at time.Time) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "    "+format+"\n", args...) }
	observed := text.Either(r.Observe, ", observed only", "")
	if !r.SilencedUntil.IsZero() {
		observed = ", silenced until " + r.SilencedUntil.UTC().Format(time.DateTime)
	}
	fmt.Fprintf(b, "  %s is %s for %s%s\n", r.Name, r.Status, text.Span(at.Sub(r.Since)), observed)
	if r.Summary != "" {
		line("%s", text.Either(r.Status == Unknown, undetermined, "")+r.Summary)
	}
	line("expression  %s", text.OneLine(r.Expr))
	if r.Value != nil {
		line("value       %s%s", *r.Value, text.Either(r.Threshold != "", ", fails if "+r.Threshold, ""))
	}
	if len(r.Labels) > 0 {
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
			pairs = append(pairs, fmt.Sprintf("%s=%q", name, r.Labels[name]))
		}
		line("labels      %s%s", strings.Join(pairs, ", "), text.Either(r.Alerts > 1, fmt.Sprintf(", the first of %d alerts", r.Alerts), ""))
	}
	for _, c := range r.Collectors {
		line("collector   %s: %s", c.Name, c.describe())
	}
	for _, reason := range []string{r.Reason, r.Note} {
		if reason != "" && !r.shows(reason) {
			line("reason      %s", reason)
		}
	}
	if r.Cause != "" {
		line("cause       %s", r.Cause)
	}
	if len(r.Consequences) > 0 {
		line("causes      %s", strings.Join(r.Consequences, ", "))
	}
}

// shows reports whether a reason is the error of one of the rule's collectors.
func (r *RuleMoment) shows(reason string) bool {
	return slices.ContainsFunc(r.Collectors, func(c CollectorMoment) bool { return reason == "collector "+c.Name+" fails: "+c.Error })
}

// describe returns the outcome of the last collection and the age of the values.
func (c *CollectorMoment) describe() string {
	outcome := "succeeds"
	switch {
	case !c.Ran:
		return "no collection has finished yet"
	case !c.Success:
		outcome = strings.TrimSuffix("fails: "+text.OneLine(c.Error), ": ")
	}
	if c.AgeSeconds == nil {
		return outcome + ", no values yet"
	}
	return fmt.Sprintf("%s, values %s old", outcome, text.Span(seconds(*c.AgeSeconds)))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
