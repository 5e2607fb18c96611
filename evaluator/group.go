package evaluator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
)

// group is a rule group. Its rules are evaluated one after another, so that a rule can
// use what the recording rules before it wrote.
type group struct {
	rules.Group
	file  string
	rules []evaluated
	// last is when the group was last evaluated; zero before that.
	last time.Time
	// first are the sources that have delivered their first samples since then.
	first []*source
}

// evaluated is one rule of a group: either alerting or recording is set.
type evaluated struct {
	alerting   *alerting
	recording  *recording
	definition *Definition
}

// due reports whether the group takes part in the evaluation at at. A group without an
// interval of its own always does. tolerance is by how much evaluations may come early:
// without it, a group with their interval would miss every other one.
func (g *group) due(at time.Time, tolerance time.Duration) bool {
	return g.Interval <= 0 || g.last.IsZero() || at.Sub(g.last) >= g.Interval-tolerance
}

// recording is one recording rule and the source of the series that it writes. They are
// in the window for other rules and are not exported: a Prometheus that loads the same
// rule file records them.
type recording struct {
	rule   rules.Rule
	source *window.Source
	// err is the last evaluation's error, nil after a success.
	err error
	// took is how long the last query took.
	took time.Duration
}

var errHistogram = errors.New("the result has a native histogram, which a recording rule cannot keep here")

// write writes the result of the expression as the rule's series. It fails if a
// simulation was given another value for the same series and time.
func (r *recording) write(at time.Time, limit int, result promql.Vector, appended appended) error {
	if limit > 0 && len(result) > limit {
		return fmt.Errorf("the group's limit of %d series is exceeded by %d results", limit, len(result))
	}
	b := labels.NewBuilder(labels.EmptyLabels())
	seen := make(map[uint64]struct{}, len(result))
	for i, s := range result {
		if s.H != nil {
			return errHistogram
		}
		b.Reset(s.Metric)
		b.Set(model.MetricNameLabel, r.rule.Record)
		for name, value := range r.rule.Labels {
			b.Set(name, value)
		}
		result[i].Metric = b.Labels()
		h := result[i].Metric.Hash()
		if _, twice := seen[h]; twice {
			return fmt.Errorf("the result has two elements with the labels %s once the rule's are applied", result[i].Metric)
		}
		seen[h] = struct{}{}
		if appended.conflicts(h, at.UnixMilli(), s.F) {
			return fmt.Errorf("the series %s is given with another value for the same time", result[i].Metric)
		}
	}
	r.source.Begin(at.UnixMilli())
	for _, s := range result {
		if err := r.source.Add(s.Metric, s.F, 0); err != nil {
			r.source.Abort()
			return err
		}
	}
	r.source.End()
	return nil
}

// querier runs PromQL over the window.
type querier struct {
	engine  *promql.Engine
	samples storage.Queryable
}

// instant evaluates expr at at. Only instant vectors and scalars can be the result
// of a rule; a scalar is a vector of one element without labels, as in Prometheus.
func (q querier) instant(ctx context.Context, expr string, at time.Time) (result promql.Vector, err error) {
	err = q.run(ctx, expr, at, func(v parser.Value) error {
		switch v := v.(type) {
		case promql.Vector:
			result = slices.Clone(v)
		case promql.Scalar:
			result = promql.Vector{{T: v.T, F: v.V, Metric: labels.EmptyLabels()}}
		default:
			return fmt.Errorf("the expression's result is a %s: expected an instant vector or a scalar", v.Type())
		}
		return nil
	})
	return result, err
}

// run evaluates expr at at and passes the result to use, during which it is valid.
func (q querier) run(ctx context.Context, expr string, at time.Time, use func(parser.Value) error) error {
	query, err := q.engine.NewInstantQuery(ctx, q.samples, nil, expr, at)
	if err != nil {
		return err
	}
	defer query.Close()
	result := query.Exec(ctx)
	if result.Err != nil {
		return result.Err
	}
	return use(result.Value)
}
