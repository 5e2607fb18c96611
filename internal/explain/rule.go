package explain

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxAlerts bounds the alerts of a rule that are explained.
	maxAlerts = 10
	// maxErrorText bounds the error of an expression, in bytes.
	maxErrorText = 512
)

// explainer explains rules within one view of the evaluator.
type explainer struct {
	view *evaluator.View
	// own are the names of Vitals' own metrics.
	own        map[string]bool
	recordings []*evaluator.Recording
}

func newExplainer(v *evaluator.View) *explainer {
	x := &explainer{view: v, own: map[string]bool{}, recordings: v.Recordings()}
	for _, d := range evaluator.Descs() {
		x.own[d.Name] = true
	}
	return x
}

// rule explains a rule of the snapshot, with its tree if that is wanted.
func (x *explainer) rule(ctx context.Context, r *evaluator.Rule, tree bool) *explainedRule {
	out := &explainedRule{bare: x.bare(r)}
	if !tree {
		return out
	}
	whole := *out.bare
	t := treeBuilder{explainer: x, left: maxTreeNodes}
	whole.Tree = t.branch(ctx, r.Expr, x.view.At().Add(-r.QueryOffset), 0)
	out.whole, out.nodes = &whole, maxTreeNodes-t.left
	return out
}

// bare explains all but the tree.
func (x *explainer) bare(r *evaluator.Rule) *Rule {
	out := &Rule{
		Name: r.Name, Group: r.Group, File: r.File, State: r.State, Severity: r.Severity,
		Status: r.Status.String(), Since: inUTC(r.Since), Decides: r.Decides, Warns: r.Warns, Observe: r.Observe, Silence: r.Silence, Starting: r.Starting,
		NoData: r.NoData, HeldForSeconds: r.HeldFor.Seconds(), ForSeconds: r.For.Seconds(), KeepFiringForSeconds: r.KeepFiringFor.Seconds(),
		Summary: r.Summary, Reason: r.Reason, Note: r.Note, Cause: r.Cause,
		Description: r.Description, RunbookURL: r.RunbookURL, Labels: r.Labels,
		AlertCount: r.AlertCount, Expr: printed(r.Expr),
	}
	if len(r.Labels) == 0 {
		out.Labels = nil
	}
	if !r.Evaluated.Equal(x.view.Snapshot().At) {
		out.Evaluated = inUTC(r.Evaluated)
	}
	out.AsOf = x.offset(r.QueryOffset)
	for _, al := range r.Alerts[:min(len(r.Alerts), maxAlerts)] {
		out.Alerts = append(out.Alerts, explainAlert(r, al))
	}
	return out
}

// printed returns an expression as PromQL prints it, which is on one line.
func printed(expr string) string {
	if ast, err := parse(expr); err == nil {
		expr = ast.String()
	}
	return text.Clip(expr, maxNodeText)
}

func parse(expr string) (parser.Expr, error) {
	return promexpr.Parse(expr)
}

// offset returns the time for which a group's expressions are evaluated, where that is not
// the evaluation's.
func (x *explainer) offset(by time.Duration) time.Time {
	if by == 0 {
		return time.Time{}
	}
	return inUTC(x.view.At().Add(-by))
}

// explainAlert explains an alert and its timers.
func explainAlert(r *evaluator.Rule, al evaluator.Alert) Alert {
	out := Alert{
		Labels: al.Labels.Map(), Value: Number(al.Value), Firing: al.Firing,
		ActiveAt: inUTC(al.ActiveAt), FiresAt: inUTC(al.ActiveAt.Add(r.For)),
	}
	if !al.KeepFiringSince.IsZero() {
		out.KeptUntil = inUTC(al.KeepFiringSince.Add(r.KeepFiringFor))
	}
	return out
}

// recordingsOf returns the recording rules of this name: those that wrote one of the
// series, or all if there are none.
func (x *explainer) recordingsOf(name string, series []labels.Labels) []*evaluator.Recording {
	var found []*evaluator.Recording
	for _, r := range x.recordings {
		if r.Rule.Record == name && (len(series) == 0 || slices.ContainsFunc(series, r.Exports)) {
			found = append(found, r)
		}
	}
	return found
}
