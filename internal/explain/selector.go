package explain

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
)

// maxOrigins bounds the collectors that a selector without series names, and the
// recording rules of any.
const maxOrigins = 5

// selector explains an instant selector: each element with the time of its sample.
func (b *branch) selector(ctx context.Context, n *Node, e *parser.VectorSelector, at time.Time, up above) {
	shown := b.evaluate(ctx, n, e, at, up).shown
	to := reference(at, e.Timestamp, e.OriginalOffset)
	for i, l := range shown {
		if t, ok := b.view.SampleTime(l, to); ok {
			n.Series[i].SampleAt = t
		}
	}
	b.origins(ctx, n, e, shown)
}

// ranges explains a range selector.
func (b *branch) ranges(ctx context.Context, n *Node, e *parser.MatrixSelector, at time.Time, up above) {
	shown := b.evaluate(ctx, n, e, at, up).shown
	if selector, ok := e.VectorSelector.(*parser.VectorSelector); ok {
		b.origins(ctx, n, selector, shown)
	}
}

// origins adds the collectors and recording rules that export the series of a selector
// or, where it has none, could export them.
func (b *branch) origins(ctx context.Context, n *Node, e *parser.VectorSelector, shown []labels.Labels) {
	of := map[string][]labels.Labels{}
	var names []string
	note := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, l := range shown {
		collector, own := b.view.Exporter(l)
		n.Series[i].Collector, n.Own = collector, n.Own || own
		if collector != "" && !slices.Contains(n.Collectors, collector) {
			n.Collectors = append(n.Collectors, collector)
		}
		if collector == "" && !own {
			name := l.Get(model.MetricNameLabel)
			of[name] = append(of[name], l)
			note(name)
		}
	}
	if n.Count == 0 && n.Error == "" {
		n.Own = b.own[promexpr.MetricName(e)]
		n.Collectors = b.candidates(e)
		note(promexpr.MetricName(e))
	}
	for _, name := range names {
		for _, r := range b.recordingsOf(name, of[name]) {
			if len(n.Recordings) < maxOrigins {
				n.Recordings = append(n.Recordings, b.recording(ctx, r))
			}
		}
	}
	if n.Count == 0 && n.Error == "" && !n.Own && len(n.Collectors)+len(n.Recordings) == 0 {
		failing := b.view.Failing(promexpr.MetricName(e))
		failing = slices.DeleteFunc(failing, func(collector string) bool { return !b.view.CanExport(collector, e) })
		n.Collectors = failing[:min(len(failing), maxOrigins)]
	}
}

// candidates returns the collectors that could export the series of a selector: those
// that it names or, without any, those that export the metric with labels that it matches.
func (x *explainer) candidates(e *parser.VectorSelector) []string {
	var named, exporting []string
	s := x.view.Snapshot()
	for i, c := range s.Collectors {
		if slices.ContainsFunc(e.LabelMatchers, func(m *labels.Matcher) bool {
			return m.Type == labels.MatchEqual && evaluator.NamesCollector(m.Name) && m.Value == c.Name
		}) {
			named = append(named, c.Name)
		}
		if s.Batches[i].Describes(promexpr.MetricName(e)) && x.view.CanExport(c.Name, e) {
			exporting = append(exporting, c.Name)
		}
	}
	if len(named) == 0 {
		named = exporting
	}
	return named[:min(len(named), maxOrigins)]
}

// reference returns the time for which a selector or subquery is evaluated: @ replaces
// the evaluation's own, and offset goes back from it.
func reference(at time.Time, timestamp *int64, offset time.Duration) time.Time {
	if timestamp != nil {
		at = time.UnixMilli(*timestamp)
	}
	return time.UnixMilli(at.UnixMilli() - offset.Milliseconds())
}

// recording explains a recording rule, with its tree unless that already is further up
// or would be too deep.
func (b *branch) recording(ctx context.Context, r *evaluator.Recording) Recording {
	out := Recording{
		Name: r.Rule.Record, Group: r.Group, File: r.File, Expr: text.Clip(r.Rule.AST.String(), maxNodeText),
		Labels: r.Rule.Labels, AsOf: b.offset(r.QueryOffset),
	}
	if r.Err != nil {
		out.Error = text.Clip(r.Err.Error(), maxErrorText)
	}
	if !r.Evaluated.Equal(b.view.At()) {
		out.Evaluated = inUTC(r.Evaluated)
	}
	if b.depth < maxRecordingDepth && b.left > 0 && !slices.Contains(b.seen, r) {
		b.seen = append(b.seen, r)
		out.Tree = b.branch(ctx, r.Rule.Expr, b.view.At().Add(-r.QueryOffset), b.depth+1)
	}
	return out
}
