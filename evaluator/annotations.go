package evaluator

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// annotateSeen expands the annotations of the alerts that the expression has just returned,
// at most limit. As in Prometheus their queries find what the rules before this one wrote,
// and nothing of this rule and of those after it.
func (a *alerting) annotateSeen(ctx context.Context, at time.Time, limit int, tc templateContext) {
	all := a.sorted()
	for _, al := range all[:min(len(all), limit)] {
		if al.seen {
			a.annotate(ctx, at, al, tc)
		}
	}
}

func (a *alerting) annotate(ctx context.Context, at time.Time, al *active, tc templateContext) {
	al.annotations = make(map[string]string, len(a.annotations))
	for _, t := range a.annotations {
		al.annotations[t.name] = t.expand(ctx, at, al.sample, tc)
	}
}

// sameSample reports whether templates print two samples alike. 0 and -0 are different
// texts, and a histogram is taken for changed.
func sameSample(x, y promql.Sample) bool {
	return x.H == nil && y.H == nil && math.Float64bits(x.F) == math.Float64bits(y.F) && labels.Equal(x.Metric, y.Metric)
}
