package explain

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/text"
)

// maxNodeSeries bounds the elements of a node that are shown.
const maxNodeSeries = 10

// above describes the part above: a comparison with a number that holds for some values,
// and the labels of the elements that matter.
type above struct {
	holds func(float64) bool
	want  []labels.Labels
}

// rank returns 0 for the elements that matter most.
func (a above) rank(l labels.Labels, v float64) (rank int) {
	if a.holds != nil && !a.holds(v) {
		rank += 2
	}
	if len(a.want) > 0 && !slices.ContainsFunc(a.want, func(want labels.Labels) bool { return agree(l, want) }) {
		rank++
	}
	return rank
}

// deciding returns how many of the elements matter most, or 0 if all of count do.
func (a above) deciding(series []Series, shown []labels.Labels, count int) (n int) {
	if a.holds == nil && len(a.want) == 0 {
		return 0
	}
	for i, l := range shown {
		v := 0.0
		if series[i].Value != nil {
			v = float64(*series[i].Value)
		}
		if a.rank(l, v) == 0 {
			n++
		}
	}
	if n == count {
		return 0
	}
	return n
}

// agree reports whether an element can contribute to one with the labels of want: whether
// no label of both has different values.
func agree(l, want labels.Labels) bool {
	ok := true
	want.Range(func(w labels.Label) {
		if v := l.Get(w.Name); w.Name != model.MetricNameLabel && v != "" && v != w.Value {
			ok = false
		}
	})
	return ok
}

// found is the part of an evaluation's result that the node does not have.
type found struct {
	// shown are the labels of the node's series.
	shown []labels.Labels
	// ones is how many elements of a vector are 1.
	ones int
	// below describes this part for the parts below.
	below above
}

// evaluate sets the value of an expression as of at.
func (b *branch) evaluate(ctx context.Context, n *Node, e parser.Expr, at time.Time, up above) (f found) {
	err := b.view.Query(ctx, e.String(), at, func(v parser.Value) error {
		switch v := v.(type) {
		case promql.Scalar:
			n.Value = new(Number(v.V))
		case promql.Vector:
			f = n.vector(v, up)
		case promql.Matrix:
			f = n.matrix(v, up)
		}
		return nil
	})
	if err != nil {
		n.Error = text.Clip(err.Error(), maxErrorText)
	}
	if f.below.want = up.want; len(f.shown) > 0 {
		f.below.want = n.behind(f.shown, up)
	}
	return f
}

// behind returns the shown elements whose parts matter: those for which a comparison
// holds or, without any, those that matter above.
func (n *Node) behind(shown []labels.Labels, up above) []labels.Labels {
	up.holds = nil
	var hold, matter []labels.Labels
	for i, l := range shown {
		if holds := n.Series[i].Holds; holds != nil && *holds {
			hold = append(hold, l)
		}
		if up.rank(l, 0) == 0 {
			matter = append(matter, l)
		}
	}
	for _, some := range [][]labels.Labels{hold, matter} {
		if len(some) > 0 {
			return some
		}
	}
	return shown
}

// vector shows the first elements of a vector.
func (n *Node) vector(v promql.Vector, up above) (f found) {
	n.Count = len(v)
	for _, s := range v {
		if s.F == 1 {
			f.ones++
		}
	}
	first := smallest(v, func(s promql.Sample) int { return up.rank(s.Metric, s.F) }, func(x, y promql.Sample) int { return labels.Compare(x.Metric, y.Metric) })
	for _, s := range first {
		series := Series{Labels: s.Metric.Map(), Value: new(Number(s.F))}
		if up.holds != nil {
			series.Holds = new(up.holds(s.F))
		}
		n.Series, f.shown = append(n.Series, series), append(f.shown, s.Metric)
	}
	n.Deciding = up.deciding(n.Series, f.shown, n.Count)
	return f
}

// matrix shows the first ranges of a matrix.
func (n *Node) matrix(m promql.Matrix, up above) (f found) {
	n.Count = len(m)
	up.holds = nil // which is about single values
	first := smallest(m, func(s promql.Series) int { return up.rank(s.Metric, 0) }, func(x, y promql.Series) int { return labels.Compare(x.Metric, y.Metric) })
	for _, s := range first {
		series := Series{Labels: s.Metric.Map(), Samples: len(s.Floats)}
		if last := len(s.Floats) - 1; last >= 0 {
			series.First, series.Last = point(s.Floats[0]), point(s.Floats[last])
		}
		n.Series, f.shown = append(n.Series, series), append(f.shown, s.Metric)
	}
	n.Deciding = up.deciding(n.Series, f.shown, n.Count)
	return f
}

func point(p promql.FPoint) *Point {
	return &Point{At: time.UnixMilli(p.T).UTC(), Value: Number(p.F)}
}

// smallest returns the first maxNodeSeries elements of all, in the order of their ranks
// and then of compare.
func smallest[E any](all []E, rank func(E) int, compare func(a, b E) int) []E {
	type ranked struct {
		rank int
		E    E
	}
	order := func(a, b ranked) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return compare(a.E, b.E)
	}
	var kept []ranked
	for _, e := range all {
		r := ranked{rank(e), e}
		if len(kept) == maxNodeSeries && order(r, kept[maxNodeSeries-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(kept, r, order)
		kept = slices.Insert(kept, at, r)
		kept = kept[:min(len(kept), maxNodeSeries)]
	}
	first := make([]E, 0, len(kept))
	for _, r := range kept {
		first = append(first, r.E)
	}
	return first
}
