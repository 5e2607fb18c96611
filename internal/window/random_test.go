package window_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"pgregory.net/rapid"

	"github.com/vitals-health/vitals/internal/window"
)

// The lookback of the engine and the ranges and offsets of the random expressions.
// The steps between batches are near their edges.
const (
	lookback = 15 * time.Second
	span     = 30 * time.Second
	offset   = 10 * time.Second
)

var exprs = []string{
	"a", "b", `a{x="1"}`, `a{x!="1"}`, `a{x=~"1|2",y=""}`, `{__name__=~"a|b"}`, `{x="1"}`, "absent(a)", `absent(b{x="3"})`, "sum by (x) (a)", "a - on (x, y) b", "count({__name__!=\"\"})",
	"a offset 10s", "b offset 10s - b", `{x="2"} offset 10s`, "count_over_time(a[30s])", "increase(a[30s])", "avg_over_time(b[30s])", "last_over_time(a[30s] offset 10s)", `count_over_time({x="1"}[30s])`,
	"changes(a[30s]) + on (x, y) b", "max_over_time(a[30s:5s])", "count_over_time(a[30s:7s] offset 10s)", "max_over_time(sum(b)[30s:5s])", "count_over_time(rate(a[15s])[30s:10s])", "absent_over_time(b[30s])", "timestamp(a)", "timestamp(a offset 10s)",
}

// run drives a window and the model of it with the same random batches.
type run struct {
	t       *rapid.T
	w       *window.Window
	m       *model
	sources []*window.Source
	now     int64
}

func (r *run) n(name string, max int) int { return rapid.IntRange(0, max).Draw(r.t, name) }

// series returns one of a few series. Those with the label y come with explicit timestamps.
func (r *run) series() (labels.Labels, bool) {
	name, x := rapid.SampledFrom([]string{"a", "a", "b", "c"}).Draw(r.t, "name"), strconv.Itoa(r.n("x", 3))
	if r.n("explicit", 4) == 0 {
		return labels.FromStrings("__name__", name, "x", x, "y", "explicit"), true
	}
	return labels.FromStrings("__name__", name, "x", x), false
}

func (r *run) write(source int) {
	s := r.sources[source]
	s.Begin(r.now)
	exported := map[string]bool{}
	for range r.n("series", 8) {
		l, explicit := r.series()
		p := promql.FPoint{T: r.now, F: rapid.SampledFrom([]float64{0, 1, 1, 2, 5, -3, math.NaN(), math.Inf(1)}).Draw(r.t, "value")}
		own := int64(0)
		if explicit {
			p.T -= rapid.SampledFrom([]int64{0, 1, 5000, 9999, 29999, 30000, 30001, 310_000}).Draw(r.t, "age")
			own = p.T
		}
		if err := s.Add(l, p.F, own); err != nil {
			r.t.Fatalf("Add(%s) = %v, want nil", l, err)
		}
		r.m.add(l, p, explicit)
		exported[l.String()] = true
	}
	s.End()
	r.m.end(source, r.now, exported)
}

func (r *run) step() {
	ms := []int64{0, 1, 1000, 5000, 5000, 9999, 10_000, 10_001, 14_999, 15_000, 15_001, 29_999, 30_000, 30_001, 40_000, 45_000, 299_999, 300_000, 300_001}
	r.now += rapid.SampledFrom(ms).Draw(r.t, "step")
	source := r.n("source", len(r.sources)-1)
	switch r.n("action", 9) {
	case 0:
		r.sources[source].Stale(r.now)
		r.m.end(source, r.now, nil)
	case 1:
		r.sources[source].Close(r.now)
		r.m.close(source, r.now)
	case 2:
		d := rapid.SampledFrom([]time.Duration{-time.Hour, -time.Second, time.Millisecond, time.Hour}).Draw(r.t, "shift")
		r.w.Shift(d)
		r.m.shift(d)
		r.now += d.Milliseconds()
	default:
		r.write(source)
	}
}

func format(v promql.Vector) string {
	var b strings.Builder
	for _, s := range v {
		fmt.Fprintf(&b, "%s %x\n", s.Metric, math.Float64bits(s.F))
	}
	return b.String()
}

// With the retention that an expression needs, its results are those over all samples.
func TestRandomBatchesAgainstAllSamples(t *testing.T) {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: lookback, NoStepSubqueryIntervalFn: func(int64) int64 { return 5000 }})
	compared, nonEmpty := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := &run{t: t, w: window.New(), m: &model{series: map[string]*modelSeries{}}, now: 1_700_000_000_000}
		for range 1 + r.n("sources", 2) {
			r.sources = append(r.sources, r.w.Source())
			r.m.sources = append(r.m.sources, nil)
		}
		expr := rapid.SampledFrom(exprs).Draw(t, "expr")
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		if err != nil {
			t.Fatalf("ParseExpr(%s) = %v", expr, err)
		}
		r.w.SetRetention(retention(parsed, lookback))
		for range 1 + r.n("steps", 25) {
			r.step()
			at := r.now + rapid.SampledFrom([]int64{0, 0, 0, 1, 5000, 14_999, 15_000, 25_000, 30_000}).Draw(t, "later")
			got, err := instant(engine, r.w, expr, at)
			want, wantErr := instant(engine, r.m, expr, at)
			if format(got) != format(want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("%s at %d (window's time %d):\ngot  %v, %v\nwant %v, %v", expr, at, r.now, got, err, want, wantErr)
			}
			compared++
			if len(want) > 0 {
				nonEmpty++
			}
			r.compareLive(parsed, at)
		}
	})
	if nonEmpty*4 < compared {
		t.Errorf("only %d of %d results had elements: the test compares nothing with nothing", nonEmpty, compared)
	}
}

// compareLive compares Live for selectors without history, and LiveRange for those of
// the whole range.
func (r *run) compareLive(expr parser.Expr, at int64) {
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		s, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		want, _ := r.m.live(s.LabelMatchers, at-lookback.Milliseconds(), at)
		if got := r.w.Live(s.LabelMatchers, at-lookback.Milliseconds(), at); got != want {
			r.t.Fatalf("Live(%s) at %d = %v, want %v", s, at, got, want)
		}
		if len(path) == 0 {
			return nil
		}
		if m, ok := path[len(path)-1].(*parser.MatrixSelector); ok {
			_, wantRange := r.m.live(s.LabelMatchers, at-m.Range.Milliseconds(), at)
			if got := r.w.LiveRange(s.LabelMatchers, at-m.Range.Milliseconds(), at); got != wantRange {
				r.t.Fatalf("LiveRange(%s) at %d = %v, want %v", s, at, got, wantRange)
			}
		}
		return nil
	})
}
