package evaluator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

// Bounds of overrides.
const (
	// maxOverrides bounds their number, some 300 kB.
	maxOverrides = 1000
	// maxOverride is how long one may last: what is needed for longer is a change of a rule.
	maxOverride = 30 * 24 * time.Hour
	// maxOverrideReason and maxOverrideBy bound their texts, in bytes.
	maxOverrideReason, maxOverrideBy = 200, 100
	// maxKnownNames bounds the list of names in an error, in bytes.
	maxKnownNames = 2 << 10
)

// Override is what an operator decided for a time: the silence of a rule, which then counts
// as one of mode observe, or maintenance of a state, which then fails. Times are in UTC.
// Its JSON form restores it with Options.Overrides.
type Override struct {
	// Rule is the name of the rule that is silenced; empty for maintenance.
	Rule string `json:"rule,omitempty"`
	// State is the state that fails. For a silence, only rules of that state are silenced;
	// empty for all rules of the name.
	State string    `json:"state,omitempty"`
	Begin time.Time `json:"begin"`
	// Until is the end; zero for maintenance without one.
	Until time.Time `json:"until,omitzero"`
	// By is who decided it.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// OverrideChange is the begin or the end of an override.
type OverrideChange struct {
	Override
	// Ended is false at the begin.
	Ended bool
	// EndedBy is who ended it; empty where it ended by itself.
	EndedBy string
}

// OverrideError is why an override cannot begin or end.
type OverrideError struct {
	// Missing is set if there is no such rule, state or override.
	Missing bool
	Text    string
}

// Error returns the text.
func (e *OverrideError) Error() string { return e.Text }

func invalidOverride(format string, args ...any) error {
	return &OverrideError{Text: fmt.Sprintf(format, args...)}
}

// Maintains reports whether the override is maintenance.
func (o *Override) Maintains() bool { return o.Rule == "" }

// UntilText returns the end for people, as seen at a time: the time of day in UTC, with the
// date if it is another day. at may be zero for the date in any case.
func (o *Override) UntilText(at time.Time) string {
	until, at := o.Until.UTC(), at.UTC()
	switch {
	case o.Until.IsZero():
		return "until it is switched off"
	case until.Format(time.DateOnly) == at.Format(time.DateOnly):
		return until.Format("until 15:04 UTC")
	}
	return until.Format("until 2006-01-02 15:04 UTC")
}

// Why returns who decided the override and the reason, for people.
func (o *Override) Why() string {
	by := ""
	if o.By != "" {
		by = "by " + o.By
	}
	return strings.TrimPrefix(by+text.Either(o.Reason != "", ": "+o.Reason, ""), ": ")
}

// stateReason returns the reason of a state under maintenance.
func (o *Override) stateReason() string {
	facts := text.Either(o.By != "", "by "+o.By+", ", "") + o.UntilText(time.Time{})
	if o.Reason == "" {
		return ReasonMaintenance + ": " + facts
	}
	return ReasonMaintenance + ": " + o.Reason + " (" + facts + ")"
}

// same reports whether two overrides are about the same, so that one replaces the other.
func (o *Override) same(other *Override) bool { return o.Rule == other.Rule && o.State == other.State }

// overrides are those that have not ended. The zero value has none.
type overrides struct {
	// all is never changed: snapshots share it.
	all []Override
	// changes are those that no snapshot has yet.
	changes []OverrideChange
}

// begin adds an override, in the place of the same one.
func (v *overrides) begin(o Override) {
	v.remove(o.same)
	v.all = append(slices.Clip(v.all), o)
	v.changes = append(v.changes, OverrideChange{Override: o})
}

// remove removes the chosen overrides and returns them.
func (v *overrides) remove(chosen func(*Override) bool) (removed []Override) {
	var kept []Override
	for i := range v.all {
		if chosen(&v.all[i]) {
			removed = append(removed, v.all[i])
		} else {
			kept = append(kept, v.all[i])
		}
	}
	if len(removed) > 0 {
		v.all = kept
	}
	return removed
}

// shift moves all times by d.
func (v *overrides) shift(d time.Duration) {
	all := slices.Clone(v.all)
	for i := range all {
		all[i].Begin, all[i].Until = shifted(all[i].Begin, d), shifted(all[i].Until, d)
	}
	v.all = all
}

// silence returns the silence of a rule that ends last, or nil.
func (v *overrides) silence(rule, state string) *Override {
	var found *Override
	for i := range v.all {
		o := &v.all[i]
		if !o.Maintains() && o.Rule == rule && (o.State == "" || o.State == state) && (found == nil || o.Until.After(found.Until)) {
			found = o
		}
	}
	return found
}

// maintenance returns the maintenance of a state, or nil.
func (v *overrides) maintenance(state string) *Override {
	i := slices.IndexFunc(v.all, func(o Override) bool { return o.Maintains() && o.State == state })
	if i < 0 {
		return nil
	}
	return &v.all[i]
}

// take returns the changes that no snapshot has yet, and forgets them.
func (v *overrides) take() []OverrideChange {
	changes := v.changes
	v.changes = nil
	return changes
}
