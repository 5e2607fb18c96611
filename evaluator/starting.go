package evaluator

import "slices"

// AtStart is what a pending rule means that has not been OK since the start, or since it
// was added. The zero value selects the default of the state.
type AtStart string

// The policies for a rule that has not been OK yet.
const (
	// AtStartFail makes the state fail: for is patience with what was healthy before.
	AtStartFail AtStart = "fail"
	// AtStartPass makes the state pass until the rule fails.
	AtStartPass AtStart = "pass"
)

// Valid reports whether p is a policy. The zero value is none.
func (p AtStart) Valid() bool { return p == AtStartFail || p == AtStartPass }

// measured takes note that a source delivers its first samples.
func (c *core) measured(s *source) {
	for _, g := range c.groups {
		g.first = append(g.first, s)
	}
}

// firstFor reports whether one of the sources may export a metric of a rule. A rule that
// selects none by name may use any.
func (c *core) firstFor(a *alerting, first []*source) bool {
	if len(a.selected) == 0 {
		return len(first) > 0
	}
	return slices.ContainsFunc(first, c.exportersOf(a.selected))
}

// unproven reports whether an alert that becomes active now has not been seen inactive:
// the rule has not been OK yet, or the data may be the first of its collector.
func (a *alerting) unproven(firstData bool) bool { return firstData || !a.wasOK }

// starting reports whether the rule is pending, or was when its data ended, for an alert
// that has been active since the start.
func (a *alerting) starting() bool {
	if a.status == Unknown {
		return a.held == Pending && !a.wasOK
	}
	if a.status != Pending {
		return false
	}
	for _, al := range a.active {
		if al.starting {
			return true
		}
	}
	return false
}
