package evaluator

import (
	"context"
	"slices"
	"time"

	"github.com/vitals-health/vitals/rules"
)

// snapshot returns the snapshot after an evaluation, which took so long.
func (c *core) snapshot(ctx context.Context, at time.Time, took time.Duration) *Snapshot {
	c.expireOverrides(at)
	s := &Snapshot{
		At:           at,
		Started:      c.started,
		Took:         took,
		MaxAge:       c.maxAge(),
		AliveMaxAge:  c.cfg.StalledAliveAfter,
		Rules:        c.describeRules(ctx, at),
		Groups:       c.listGroups(),
		Reload:       c.reload,
		Memory:       Memory{c.window.Len(), c.opts.Memory.Used(), c.opts.Memory.Limit()},
		ShuttingDown: c.shuttingDown,
		Overrides:    c.overrides.all,
		Changes:      c.overrides.take(),
	}
	fold(s.Rules)
	s.States = c.verdicts(s.Rules, at)
	c.generation++
	s.Generation = c.generation
	for _, src := range c.sources {
		src.status.Bytes = src.series.Bytes()
		s.Collectors = append(s.Collectors, src.status)
		s.Batches = append(s.Batches, src.batch)
	}
	own := c.own.batch(s)
	s.Batches = append(s.Batches, own)
	c.own.feed(own, at, c.hides())
	return s
}

// maxAge is the age beyond which a snapshot is stalled.
func (c *core) maxAge() time.Duration { return StalledAfter(c.cfg.Interval) }

// describeRules returns the alerting rules, each with whether it decides or warns.
func (c *core) describeRules(ctx context.Context, at time.Time) []Rule {
	var all []Rule
	for g, e := range c.each() {
		if e.alerting != nil {
			all = append(all, c.describeRule(ctx, g, e.alerting, at))
		}
	}
	return all
}

func (c *core) describeRule(ctx context.Context, g *group, a *alerting, at time.Time) Rule {
	r, policy := a.rule, c.policy(a.rule)
	d := Rule{
		Name: r.Alert, Group: g.Name, File: g.file, State: r.State, Severity: r.Severity,
		Expr: r.Expr, For: r.For, KeepFiringFor: r.KeepFiringFor, Observe: r.Observe,
		NoData: string(policy.NoData), ExitCode: r.ExitCode, DependsOn: r.DependsOn,
		Status: a.status, Since: a.since, Reason: a.reason, AlertCount: len(a.active), Limit: a.limit,
		Evaluated: g.last, QueryOffset: g.QueryOffset, Labels: a.ownLabels,
	}
	if len(a.active) > 0 {
		d.Alerts = a.alerts(ctx, at, c.shownAlerts(), c.templateContext())
		d.Summary = d.Alerts[0].Annotations["summary"]
		value := d.Alerts[0].Value
		d.Observed = &value
		if r.ExitCode == 0 {
			d.ExitCode, _ = rules.ExitCode(d.Alerts[0].Annotations["exit_code"])
		}
	} else if a.status == Unknown {
		d.Summary = a.plainAnnotation("summary")
	}
	d.Description, d.RunbookURL = a.annotation("description", d.Alerts), a.annotation("runbook_url", d.Alerts)
	c.addFindings(&d, a)
	d.Collectors = c.collectorsOf(a, d.Alerts)
	d.HeldFor, _ = a.holdLeft(policy.NoData, at)
	if r.State != "" && !r.Observe {
		d.Silence = c.overrides.silence(r.Alert, r.State)
		d.Observe = d.Silence != nil
	}
	if r.State != "" && !d.Observe && a.failsState(policy, at) {
		d.Warns = r.Severity == rules.SeverityWarning
		d.Decides = !d.Warns
	}
	d.Starting = d.Decides && a.status == Pending
	return d
}

// fold sets the cause of every rule that is not ok: the failing rule at the root of its
// depends_on. It changes no verdict.
func fold(all []Rule) {
	unhealthy := map[string][]string{}
	for _, r := range all {
		if r.Status == Failing || r.Status == Pending || r.Decides {
			unhealthy[r.Name] = append(unhealthy[r.Name], r.DependsOn...)
		}
	}
	for i := range all {
		if _, ok := unhealthy[all[i].Name]; ok {
			all[i].Cause = root(all[i].DependsOn, unhealthy, []string{all[i].Name})
		}
	}
}

// root returns the first unhealthy rule whose own depends_on has none; path guards
// against a cycle, which the check of rule files forbids.
func root(names []string, unhealthy map[string][]string, path []string) string {
	for _, name := range names {
		if _, ok := unhealthy[name]; !ok || slices.Contains(path, name) {
			continue
		}
		if deeper := root(unhealthy[name], unhealthy, append(path, name)); deeper != "" {
			return deeper
		}
		return name
	}
	return ""
}
