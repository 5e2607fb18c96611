package evaluator

import (
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/rules"
)

// The reasons why a state fails without a rule that decides it.
const (
	ReasonStarting = "starting"
	ReasonNoRules  = "no rules"
	// ReasonInvalid is followed by the mistakes in the configuration.
	ReasonInvalid = "invalid configuration"
	// ReasonNotAlive is followed by the names of the rules that decide alive.
	ReasonNotAlive     = "not alive"
	ReasonShuttingDown = "shutting down"
	ReasonStalled      = "evaluator stalled"
	// ReasonMaintenance is followed by the operator's reason, who began it and its end.
	ReasonMaintenance = "maintenance"
)

// state is what is kept of a state between two evaluations.
type state struct {
	StatePolicy
	verdict     Verdict
	since       time.Time
	transitions uint64
}

// replaceStates keeps the states that stay.
func (c *core) replaceStates(at time.Time) {
	before := c.states
	c.states = nil
	for _, p := range c.cfg.States {
		s := &state{since: at}
		for _, old := range before {
			if old.Name == p.Name {
				s = old
			}
		}
		s.StatePolicy = p
		c.states = append(c.states, s)
	}
}

// policy returns what unknown and starting mean for a rule.
func (c *core) policy(r rules.Rule) StatePolicy {
	p := StatePolicy{NoData: rules.NoDataPass, AtStart: AtStartPass}
	for _, s := range c.states {
		if s.Name == r.State {
			p = s.StatePolicy
		}
	}
	if r.NoData != "" {
		p.NoData = r.NoData
	}
	if r.Severity == rules.SeverityWarning {
		p.AtStart = AtStartPass
	}
	return p
}

// failsState reports whether a rule fails its state as of at: it is failing, or it is
// unknown or starting and its policy is fail. Under hold the last other status counts;
// without one, and after the end of the hold, the rule fails its state.
func (a *alerting) failsState(p StatePolicy, at time.Time) bool {
	starting := p.AtStart == AtStartFail && a.starting()
	switch {
	case a.status != Unknown:
		return a.status == Failing || starting
	case p.NoData == rules.NoDataPass:
		return false
	case p.NoData.Kind() == rules.NoDataHold:
		left, ends := a.holdLeft(p.NoData, at)
		return a.held == Unknown || a.held == Failing || starting || ends && left == 0
	}
	return true
}

// holdLeft returns how long the last status of an unknown rule still counts. ends is false
// if that is no question: the rule has data, never had any, or its policy has no end.
func (a *alerting) holdLeft(policy rules.NoData, at time.Time) (left time.Duration, ends bool) {
	d, _ := policy.HoldsFor()
	if d == 0 || a.status != Unknown || a.held == Unknown {
		return 0, false
	}
	return max(0, d-at.Sub(a.since)), true
}

// verdicts returns the verdict of every state. The rules already have whether they
// decide or warn.
func (c *core) verdicts(all []Rule, at time.Time) []State {
	verdicts := make([]State, len(c.states))
	for i, s := range c.states {
		verdicts[i] = c.verdictOf(s, all)
	}
	c.connect(verdicts, all)
	for i, s := range c.states {
		v := &verdicts[i]
		if failed := v.Verdict == Fail; failed != (s.verdict == Fail) {
			s.since = at
			s.transitions++
		}
		s.verdict = v.Verdict
		v.Since, v.Transitions = s.since, s.transitions
	}
	return verdicts
}

// verdictOf returns the verdict of a state by its own rules only.
func (c *core) verdictOf(s *state, all []Rule) State {
	v := State{Name: s.Name, Verdict: Pass, Tolerant: s.NoData == rules.NoDataPass}
	active := 0
	var warns []int
	for i, r := range all {
		if r.State != s.Name {
			continue
		}
		v.Rules = append(v.Rules, i)
		if !r.Observe || r.Silence != nil {
			active++
		}
		if r.Decides {
			v.Deciding = append(v.Deciding, i)
		}
		if r.Warns {
			warns = append(warns, i)
		}
	}
	switch {
	case len(v.Deciding) > 0:
		v.Verdict = Fail
	case len(warns) > 0:
		v.Verdict, v.Deciding = Warn, warns
	}
	switch {
	case s.Name == Alive || s.Name == Started:
	case c.cfg.Invalid != nil:
		v.fail(bound(ReasonInvalid + ": " + c.cfg.Invalid.Error()))
	case active == 0:
		v.fail(ReasonNoRules)
	}
	causesFirst(v.Deciding, all)
	return v
}

// causesFirst moves the rules that have a cause to the end and keeps the order
// otherwise.
func causesFirst(deciding []int, all []Rule) {
	sorted := make([]int, 0, len(deciding))
	for _, folded := range []bool{false, true} {
		for _, i := range deciding {
			if (all[i].Cause != "") == folded {
				sorted = append(sorted, i)
			}
		}
	}
	copy(deciding, sorted)
}

// connect applies the dependencies between states, and of ready on the process.
func (c *core) connect(verdicts []State, all []Rule) {
	var ready, alive *State
	for i := range verdicts {
		v := &verdicts[i]
		switch v.Name {
		case Ready:
			ready = v
		case Alive:
			alive = v
		case Started:
			c.verdictOfStarted(v, c.states[i].verdict != Fail)
		}
	}
	if alive.Verdict == Fail && ready.Verdict != Fail {
		ready.fail(notAlive(alive, all))
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Maintenance = c.overrides.maintenance(v.Name); v.Maintenance != nil {
			v.fail(v.Maintenance.stateReason())
		}
	}
	if c.shuttingDown {
		ready.fail(ReasonShuttingDown)
	}
}

// notAlive returns the reason of ready with the rules that decide alive, causes first.
func notAlive(alive *State, all []Rule) string {
	var names []string
	for _, i := range alive.Deciding {
		if name := all[i].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ReasonNotAlive
	}
	return bound(ReasonNotAlive + ": " + strings.Join(names, ", "))
}

// verdictOfStarted passes once every collector has finished a collection and no rule
// fails the state, and from then on.
func (c *core) verdictOfStarted(v *State, passed bool) {
	if passed {
		*v = State{Name: v.Name, Verdict: Pass, Rules: v.Rules}
		return
	}
	if c.generation == 0 || !c.allRan() {
		v.fail(ReasonStarting)
	}
}
