package evaluator

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

// maxReloadError bounds the errors of a configuration in a snapshot, in bytes: some ten
// mistakes. The log has them all.
const maxReloadError = 4 << 10

// reloaded sets the outcome of a reload.
func (c *core) reloaded(err error, at time.Time) {
	c.reload.At, c.reload.OK, c.reload.Error = at, err == nil, ""
	if err != nil {
		c.reload.Error = text.Clip(err.Error(), maxReloadError)
		return
	}
	c.reload.LastSuccess = at
}

// newGroups makes the groups of a configuration. Rules that existed before keep their
// state.
func (c *core) newGroups(cfg Config, at time.Time) ([]*group, error) {
	before := c.previous()
	var groups []*group
	for _, f := range cfg.Files {
		for _, fg := range f.Groups {
			g := &group{Group: fg, file: f.Name}
			added := false
			for _, r := range fg.Rules {
				old, known := before.pop(identity(g, r))
				e, err := c.newEvaluated(g, r, old.evaluated, at)
				if err != nil {
					return nil, fmt.Errorf("%s: group %q, rule %q: %w", f.Name, fg.Name, r.Alert+r.Record, err)
				}
				g.rules = append(g.rules, e)
				if known {
					g.last, g.first = old.group.last, old.group.first
				}
				added = added || !known
			}
			if added {
				g.last = time.Time{} // A new rule does not wait for the group's interval.
			}
			groups = append(groups, g)
		}
	}
	before.end(at)
	return groups, nil
}

// previous are the rules before a reload, by their identity.
type previous map[string][]placed

// placed is a rule and the group that it is in.
type placed struct {
	evaluated
	group *group
}

func (c *core) previous() previous {
	p := previous{}
	for g, e := range c.each() {
		id := identity(g, e.rule())
		p[id] = append(p[id], placed{e, g})
	}
	return p
}

// pop removes and returns the first rule with this identity.
func (p previous) pop(id string) (old placed, ok bool) {
	list := p[id]
	if len(list) == 0 {
		return placed{}, false
	}
	p[id] = list[1:]
	return list[0], true
}

// end ends the series of the remaining rules.
func (p previous) end(at time.Time) {
	for _, list := range p {
		for _, old := range list {
			asOf := at.Add(-old.group.QueryOffset)
			if old.recording != nil {
				old.recording.source.Stale(asOf.UnixMilli())
				continue
			}
			old.alerting.endSeries(asOf)
			old.alerting.memory.Close()
		}
	}
}

func (c *core) newEvaluated(g *group, r rules.Rule, old evaluated, at time.Time) (evaluated, error) {
	e := evaluated{definition: define(r)}
	if r.Record != "" {
		e.recording = &recording{rule: r}
		if old.recording != nil {
			e.recording.source, e.recording.err = old.recording.source, old.recording.err
		} else {
			e.recording.source = c.window.Source()
		}
		return e, nil
	}
	a, err := newAlerting(g, r, at, c.opts.Memory.Account())
	if err != nil {
		return evaluated{}, err
	}
	if old.alerting != nil {
		a.inherit(old.alerting)
	}
	e.alerting = a
	return e, nil
}

// identity identifies a rule over reloads, so that it keeps its alerts and their times:
// by group, name and labels, as in Prometheus.
func identity(g *group, r rules.Rule) string {
	return fmt.Sprintf("%q %q %q %s", g.Name, r.Alert, r.Record, labels.FromMap(r.Labels))
}
