package verdicts

import (
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/states"
	"github.com/vitals-health/vitals/internal/text"
)

// Bounds of the pending rules in a verdict, so that the first line of an exec probe has
// room for them and for notes.
const (
	maxPending     = 3
	maxPendingText = 100
)

// pending describes the pending rules of a state that passes, each with the time until it
// takes effect, and counts those that do not fit.
func (v View) pending(st evaluator.State, now time.Time) []string {
	var all []string
	left := 0
	for _, i := range st.Rules {
		r := &v.Snap.Rules[i]
		switch {
		case r.Status != evaluator.Pending || r.Observe:
		case len(all) == maxPending:
			left++
		default:
			all = append(all, text.Clip(r.Name, maxPendingText)+" pending"+effect(r, now))
		}
	}
	if left > 0 {
		all = append(all, text.Plural(left, "more rule")+" pending")
	}
	return all
}

// effect returns what a pending rule does and when. Its alerts are longest active first.
func effect(r *evaluator.Rule, now time.Time) string {
	if len(r.Alerts) == 0 {
		return ""
	}
	in := max(0, r.For-now.Sub(r.Alerts[0].ActiveAt))
	return " (" + text.Either(r.Severity == "warning", states.Warning, states.Failing) + " in " + text.Duration(in) + ")"
}

// silenced describes the silenced rules of a state that are not ok, which the verdict does not
// show, and counts those that do not fit.
func (v View) silenced(st evaluator.State) []string {
	var all []string
	left := 0
	for _, i := range st.Rules {
		r := &v.Snap.Rules[i]
		switch {
		case r.Silence == nil || r.Status == evaluator.OK:
		case len(all) == maxPending:
			left++
		default:
			all = append(all, text.Clip(r.Name, maxPendingText)+" silenced "+r.Silence.UntilText(v.Snap.At)+" ("+r.Status.String()+")")
		}
	}
	if left > 0 {
		all = append(all, text.Plural(left, "more rule")+" silenced")
	}
	return all
}
