package evaluator

import (
	"cmp"
	"time"

	"github.com/vitals-health/vitals/rules"
)

// Group is a rule group with its alerting and recording rules.
type Group struct {
	Name string
	// File is the rule file as the configuration names it.
	File string
	// Interval is the time between two evaluations.
	Interval time.Duration
	// Limit is the maximum number of alerts or series of a rule; zero means no limit.
	Limit int
	// Evaluated is when the group was last evaluated; zero before that.
	Evaluated time.Time
	// Rules are in the order of the file.
	Rules []GroupRule
}

// GroupRule is a rule of a group.
type GroupRule struct {
	*Definition
	// Alert is the index in Snapshot.Rules; -1 for a recording rule.
	Alert int
	// Took is how long the last query of the expression took. Where no value changed since,
	// the evaluator uses its result again. Zero in a simulation.
	Took time.Duration
	// Error is the last evaluation's error, at most 512 bytes; empty after a success.
	Error string
}

// Definition is a rule as its file has it. It is immutable.
type Definition struct {
	// Name is that of the alert or of the recorded series.
	Name string
	// Query is the expression as PromQL prints it.
	Query string
	// Labels and Annotations are templates. The labels include those of the group.
	Labels, Annotations map[string]string
}

func define(r rules.Rule) *Definition {
	return &Definition{Name: r.Name(), Query: r.AST.String(), Labels: r.Labels, Annotations: r.Annotations}
}

// listGroups returns the groups with their rules. The indexes are those of describeRules.
func (c *core) listGroups() []Group {
	all := make([]Group, 0, len(c.groups))
	alerts := 0
	for _, g := range c.groups {
		listed := Group{
			Name: g.Name, File: g.file, Interval: cmp.Or(g.Interval, c.cfg.Interval), Limit: g.Limit,
			Evaluated: g.last, Rules: make([]GroupRule, 0, len(g.rules)),
		}
		for _, e := range g.rules {
			r := GroupRule{Definition: e.definition, Alert: -1}
			err := error(nil)
			if e.alerting != nil {
				r.Alert, r.Took, err = alerts, e.alerting.cached.took, e.alerting.err
				alerts++
			} else {
				r.Took, err = e.recording.took, e.recording.err
			}
			if err != nil {
				r.Error = bound(err.Error())
			}
			listed.Rules = append(listed.Rules, r)
		}
		all = append(all, listed)
	}
	return all
}

// stopwatch returns a function that returns the time since the call; always zero in a
// simulation.
func (c *core) stopwatch() func() time.Duration {
	if c.clock == nil {
		return func() time.Duration { return 0 }
	}
	began := c.clock()
	return func() time.Duration { return c.clock().Sub(began) }
}
