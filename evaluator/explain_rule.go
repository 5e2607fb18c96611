package evaluator

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/text"
)

// maxExplainedAlerts bounds the alerts of a rule that are explained.
const maxExplainedAlerts = 10

// explainer explains rules over the window as it is.
type explainer struct {
	core *core
	// own are the names of Vitals' own metrics.
	own map[string]bool
}

func newExplainer(c *core) *explainer {
	x := &explainer{core: c, own: map[string]bool{}}
	for _, d := range Descs() {
		x.own[d.Name] = true
	}
	return x
}

// rule explains a rule of the snapshot, with its tree if that is wanted.
func (x *explainer) rule(ctx context.Context, r *Rule, a *alerting, tree bool) *explainedRule {
	out := &explainedRule{bare: x.bare(r, a)}
	if !tree {
		return out
	}
	whole := *out.bare
	t := treeBuilder{explainer: x, left: maxTreeNodes}
	whole.Tree = t.build(ctx, a.rule.Expr, x.core.at.Add(-a.group.QueryOffset))
	out.whole, out.nodes = &whole, maxTreeNodes-t.left
	return out
}

// bare is all but the tree.
func (x *explainer) bare(r *Rule, a *alerting) *RuleExplanation {
	out := &RuleExplanation{
		Name: r.Name, Group: r.Group, File: r.File, State: r.State, Severity: r.Severity,
		Status: r.Status.String(), Since: inUTC(r.Since), Decides: r.Decides, Warns: r.Warns, Observe: r.Observe,
		NoData: r.NoData, ForSeconds: r.For.Seconds(), KeepFiringForSeconds: r.KeepFiringFor.Seconds(),
		Summary: r.Summary, Reason: r.Reason, Note: r.Note, Cause: r.Cause,
		AlertCount: r.AlertCount, Expr: text.Clip(a.rule.AST.String(), maxNodeText),
	}
	out.Evaluated, out.AsOf = x.times(a.group)
	for _, al := range r.Alerts[:min(len(r.Alerts), maxExplainedAlerts)] {
		out.Alerts = append(out.Alerts, a.explain(al))
	}
	return out
}

// times are when a group was evaluated, where that was not in the last pass, and as of
// when, where that is another time.
func (x *explainer) times(g *group) (evaluated, asOf time.Time) {
	if !g.last.Equal(x.core.at) {
		evaluated = inUTC(g.last)
	}
	if g.QueryOffset != 0 {
		asOf = inUTC(x.core.at.Add(-g.QueryOffset))
	}
	return evaluated, asOf
}

// explain says since when an alert's expression is true and what comes of it.
func (a *alerting) explain(al Alert) AlertExplanation {
	out := AlertExplanation{
		Labels: al.Labels.Map(), Value: Number(al.Value), Firing: al.Firing,
		ActiveAt: inUTC(al.ActiveAt), FiresAt: inUTC(al.ActiveAt.Add(a.rule.For)),
	}
	if now := a.active[al.Labels.Hash()]; now != nil && !now.keepFiringSince.IsZero() {
		out.KeptUntil = inUTC(now.keepFiringSince.Add(a.rule.KeepFiringFor))
	}
	return out
}

// recordings are the recording rules of this name: those that wrote one of the series,
// or all if there are none.
func (x *explainer) recordings(name string, series []labels.Labels) []*recordingOf {
	var found []*recordingOf
	for _, g := range x.core.groups {
		for _, e := range g.rules {
			if e.recording == nil || e.recording.rule.Record != name {
				continue
			}
			if len(series) == 0 || slices.ContainsFunc(series, e.recording.source.Exports) {
				found = append(found, &recordingOf{e.recording, g})
			}
		}
	}
	return found
}

// recordingOf is a recording rule and its group.
type recordingOf struct {
	*recording
	group *group
}
