package evaluator

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

// BeginOverride begins a silence or maintenance that lasts d, or in place of the same one
// that did. Maintenance without d has no end. It returns the override once it is in the
// snapshot, an *OverrideError, or ErrStopped.
func (e *Evaluator) BeginOverride(o Override, d time.Duration) (begun Override, err error) {
	stopped := e.change(func(at time.Time) error {
		begun, err = e.core.beginOverride(o, d, at)
		return err
	})
	if stopped != nil {
		return Override{}, stopped
	}
	return begun, err
}

// EndOverride ends the silences of a rule, or those for one state, or the maintenance of a
// state, before their end. by is who ends it. It returns once that is in the snapshot, an
// *OverrideError, or ErrStopped.
func (e *Evaluator) EndOverride(rule, state, by string) (err error) {
	stopped := e.change(func(at time.Time) error {
		err = e.core.endOverride(rule, state, by, at)
		return err
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// change has the loop call f, and waits for the next snapshot unless f fails. It returns
// ErrStopped if the loop has ended.
func (e *Evaluator) change(f func(at time.Time) error) error {
	answer := make(chan (<-chan struct{}), 1)
	_ = e.request(func(at time.Time) { // without a loop, done is closed
		var changed <-chan struct{}
		if f(at) == nil {
			changed = e.Changed()
		}
		answer <- changed
	})
	var changed <-chan struct{}
	select {
	case changed = <-answer:
	case <-e.done:
		return ErrStopped
	}
	if changed == nil {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-e.done:
		return ErrStopped
	}
}

// beginOverride checks an override and begins it.
func (c *core) beginOverride(o Override, d time.Duration, at time.Time) (Override, error) {
	o.By, o.Reason = text.Line(o.By, maxOverrideBy), c.opts.Secrets.Text(o.Reason)
	if err := c.checkOverride(&o, d); err != nil {
		return Override{}, err
	}
	if len(c.overrides.all) >= maxOverrides && !slices.ContainsFunc(c.overrides.all, func(other Override) bool { return o.same(&other) }) {
		return Override{}, invalidOverride("there are %d silences already: remove some first", maxOverrides)
	}
	o.Begin = at.UTC()
	if d > 0 {
		o.Until = o.Begin.Add(d)
	}
	c.overrides.begin(o)
	c.logOverride(text.Either(o.Maintains(), "maintenance begins", "rule silenced"), &o, "by", o.By)
	return o, nil
}

// checkOverride returns an error if an override cannot begin.
func (c *core) checkOverride(o *Override, d time.Duration) error {
	switch {
	case d < 0 || d > maxOverride || d == 0 && !o.Maintains():
		return invalidOverride("a duration of %s: expected more than 0 and at most 30d", text.Span(d))
	case len(o.Reason) > maxOverrideReason || text.OneLine(o.Reason) != o.Reason || text.Visible(o.Reason) != o.Reason:
		return invalidOverride("invalid reason: expected one line of at most %d bytes", maxOverrideReason)
	case o.Maintains():
		return c.checkMaintenance(o.State)
	}
	return c.checkSilence(o.Rule, o.State)
}

// checkMaintenance returns an error for a state that cannot have maintenance.
func (c *core) checkMaintenance(state string) error {
	var names []string
	for _, s := range c.states {
		if s.Name != Alive && s.Name != Started {
			names = append(names, s.Name)
		}
	}
	switch {
	case state == Alive || state == Started:
		return invalidOverride("maintenance of %s is refused: a probe of it would restart the container; the maintenance of %s drains it", state, Ready)
	case !slices.Contains(names, state):
		return &OverrideError{true, fmt.Sprintf("there is no state %.64q: expected one of %s", state, strings.Join(names, ", "))}
	}
	return nil
}

// checkSilence returns an error if there is nothing to silence: no such rule, or one that
// no state obeys.
func (c *core) checkSilence(rule, state string) error {
	var known, states []string
	found, obeyed := false, false
	for _, e := range c.each() {
		r := e.rule()
		if r.Alert == "" {
			continue
		}
		known = append(known, r.Alert)
		if r.Alert != rule {
			continue
		}
		found = true
		if r.State != "" && !r.Observe {
			states, obeyed = append(states, r.State), obeyed || state == "" || state == r.State
		}
	}
	switch {
	case !found:
		return &OverrideError{true, fmt.Sprintf("there is no rule %.64q: %s", rule, expectedRule(rule, known))}
	case len(states) == 0:
		return invalidOverride("rule %s has no state that obeys it: silence its alert in Alertmanager", rule)
	case !obeyed:
		return &OverrideError{true, fmt.Sprintf("rule %s has no state %.64q: expected %s", rule, state, strings.Join(slices.Compact(states), " or "))}
	}
	return nil
}

// expectedRule lists the rules that exist, similar names first.
func expectedRule(rule string, known []string) string {
	if len(known) == 0 {
		return "there is none"
	}
	slices.Sort(known)
	known = slices.Compact(known)
	list := "expected one of " + text.Clip(strings.Join(known, ", "), maxKnownNames)
	const typos = 3
	for near := range text.NewNames(known).Near(rule, typos) {
		return "did you mean " + near + "? " + list
	}
	return list
}

// endOverride ends overrides that someone removes.
func (c *core) endOverride(rule, state, by string, at time.Time) error {
	ended := c.overrides.remove(func(o *Override) bool {
		return o.Rule == rule && (o.State == state || state == "" && !o.Maintains())
	})
	if len(ended) > 0 {
		c.noteEnds(ended, text.Line(by, maxOverrideBy))
		return nil
	}
	if rule == "" {
		return &OverrideError{true, fmt.Sprintf("state %.64q is not under maintenance", state)}
	}
	var silenced []string
	for _, o := range c.overrides.all {
		if !o.Maintains() {
			silenced = append(silenced, o.Rule+text.Either(o.State != "", " (in "+o.State+" only)", ""))
		}
	}
	slices.Sort(silenced)
	of := text.Either(state != "", fmt.Sprintf(" in the state %.64q", state), "")
	return &OverrideError{true, fmt.Sprintf("rule %.64q is not silenced%s: %s", rule, of,
		text.Either(len(silenced) > 0, "silenced are "+text.Clip(strings.Join(slices.Compact(silenced), ", "), maxKnownNames), "no rule is"))}
}

// expireOverrides ends the overrides whose time is over.
func (c *core) expireOverrides(at time.Time) {
	if len(c.overrides.all) > 0 {
		c.noteEnds(c.overrides.remove(func(o *Override) bool { return !o.Until.IsZero() && !at.Before(o.Until) }), "")
	}
}

// dropOverrides ends those of before the start whose rule or state does not exist.
func (c *core) dropOverrides() {
	type subject struct{ rule, state string }
	known := map[subject]bool{}
	for _, s := range c.states {
		known[subject{"", s.Name}] = true
	}
	for _, e := range c.each() {
		if r := e.rule(); r.Alert != "" {
			known[subject{r.Alert, ""}], known[subject{r.Alert, r.State}] = true, true
		}
	}
	for _, o := range c.overrides.remove(func(o *Override) bool { return !known[subject{o.Rule, o.State}] }) {
		c.noteEnds([]Override{o}, "a start without this "+text.Either(o.Maintains(), "state", "rule"))
	}
}

// noteEnds logs the ends of overrides and has the next snapshot show them. by is empty for
// those that end by themselves.
func (c *core) noteEnds(ended []Override, by string) {
	for _, o := range ended {
		c.overrides.changes = append(c.overrides.changes, OverrideChange{Override: o, Ended: true, EndedBy: by})
		c.logOverride(text.Either(o.Maintains(), "maintenance ends", "silence ends"), &o, "by", text.Either(by != "", by, "its end"))
	}
}

func (c *core) logOverride(message string, o *Override, args ...any) {
	logger := c.opts.Logger
	if !o.Maintains() {
		logger = logger.With("rule", o.Rule)
	}
	if o.State != "" {
		logger = logger.With("state", o.State)
	}
	if !o.Until.IsZero() {
		logger = logger.With("until", o.Until)
	}
	if o.Reason != "" {
		args = append(args, slog.String("reason", o.Reason))
	}
	logger.Info(message, args...)
}
