package evaluator

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
)

// maxOrigins bounds the collectors that a selector without series names, and the
// recording rules of any.
const maxOrigins = 5

// selector explains an instant selector: each element with the time of its sample.
func (b *branch) selector(ctx context.Context, n *Node, e *parser.VectorSelector, at time.Time, up above) {
	shown := b.evaluate(ctx, n, e, at, up).shown
	to := reference(at.UnixMilli(), e.Timestamp, e.OriginalOffset)
	from := to - b.core.absent.lookback.Milliseconds()
	for i, l := range shown {
		if t, ok := b.core.window.Newest(l, from, to); ok {
			n.Series[i].SampleAt = time.UnixMilli(t).UTC()
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

// origins says where the series of a selector come from or, where it has none, could
// come from.
func (b *branch) origins(ctx context.Context, n *Node, e *parser.VectorSelector, shown []labels.Labels) {
	of := map[string][]labels.Labels{}
	var names []string
	note := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, l := range shown {
		collector, own := b.origin(l)
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
		for _, r := range b.recordings(name, of[name]) {
			if len(n.Recordings) < maxOrigins {
				n.Recordings = append(n.Recordings, b.recording(ctx, r))
			}
		}
	}
}

// origin is the collector that exports a series; own is set for Vitals' own metrics, of
// which some are about a collector.
func (x *explainer) origin(l labels.Labels) (collector string, own bool) {
	for _, s := range x.core.sources {
		if s.series.Exports(l) {
			return s.Name, false
		}
	}
	if !x.core.own.series.Exports(l) {
		return "", false
	}
	about := l.Get("collector")
	if slices.ContainsFunc(x.core.sources, func(s *source) bool { return s.Name == about }) {
		return about, true
	}
	return "", true
}

// candidates are the collectors that could export what a selector asks for: those that
// it names or, without any, those that know the metric.
func (x *explainer) candidates(e *parser.VectorSelector) []string {
	var named, knowing []string
	for _, s := range x.core.sources {
		if slices.ContainsFunc(e.LabelMatchers, func(m *labels.Matcher) bool {
			return m.Type == labels.MatchEqual && namesCollectors(m.Name) && m.Value == s.Name
		}) {
			named = append(named, s.Name)
		}
		if knows(s.batch.Descs, promexpr.MetricName(e)) {
			knowing = append(knowing, s.Name)
		}
	}
	if len(named) == 0 {
		named = knowing
	}
	return named[:min(len(named), maxOrigins)]
}

// knows says whether a metric is among descs, be it as a part of a histogram or summary.
func knows(descs []collectors.Desc, metric string) bool {
	base := metric
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		base = strings.TrimSuffix(base, part)
	}
	return slices.ContainsFunc(descs, func(d collectors.Desc) bool { return d.Name == metric || d.Name == base })
}

// recording explains a recording rule, with its tree unless that stands above or would
// be too deep.
func (b *branch) recording(ctx context.Context, r *recordingOf) Recording {
	out := Recording{Name: r.rule.Record, Group: r.group.Name, File: r.group.file, Expr: text.Clip(r.rule.AST.String(), maxNodeText), Labels: r.rule.Labels}
	if r.err != nil {
		out.Error = bound(r.err.Error())
	}
	out.Evaluated, out.AsOf = b.times(r.group)
	if b.depth < maxRecordingDepth && b.left > 0 && !slices.Contains(b.seen, r.recording) {
		b.seen = append(b.seen, r.recording)
		out.Tree = b.branch(ctx, r.rule.Expr, b.core.at.Add(-r.group.QueryOffset), b.depth+1)
	}
	return out
}
