package evaluator

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/rules"
)

const (
	// benchStep and benchCollections make the five minutes of history that the rules need.
	benchStep        = 5 * time.Second
	benchCollections = 60
	// growthMargin is how much more than in proportion an evaluation may cost before
	// BenchmarkPassGrowth fails. Ten times the series leave the processor's caches.
	growthMargin = 2
)

// workload is a core with rules and history, evaluated every second.
type workload struct {
	core    *core
	source  *fakeCollector
	samples []collectors.Sample
	now     time.Time
}

// newWorkload makes an evaluator of so many rules, each over its share of the
// series, with five minutes of history. Of ten rules six compare the last value,
// the others use increase, avg_over_time, min by and absent. One rule in fifty fires.
func newWorkload(b *testing.B, ruleCount, seriesCount int) *workload {
	b.Helper()
	w := &workload{source: &fakeCollector{"bench"}, now: epoch}
	var text strings.Builder
	text.WriteString("groups:\n  - name: bench\n    rules:\n")
	each := seriesCount / ruleCount
	for i := range ruleCount {
		expr, value := benchRule(i)
		fmt.Fprintf(&text, "      - {alert: Rule%d, expr: '%s', labels: {state: ready}, annotations: {summary: 'Rule %d has {{ $value }}.'}}\n", i, expr, i)
		for j := range each {
			w.samples = append(w.samples, collectors.Sample{Value: value, Labels: labels.FromStrings(
				model.MetricNameLabel, fmt.Sprintf("metric_%d", i), "name", fmt.Sprintf("n%d", j),
				"component", fmt.Sprintf("c%d", j%4), "instance", "localhost:9100", "job", "bench")})
		}
	}
	file, errs := rules.Parse("bench.yml", []byte(text.String()), []string{Ready, Alive, Started})
	if len(errs) > 0 {
		b.Fatalf("Parse() = %v, want no error", errs)
	}
	var err error
	w.core, err = newCore(Config{
		Files:   []*rules.File{file},
		Sources: []Source{{Name: "bench", Interval: benchStep, Collector: w.source}},
	}, Options{}, epoch)
	if err != nil {
		b.Fatal(err)
	}
	for range benchCollections {
		w.now = w.now.Add(benchStep)
		w.core.take(workers.Result{Collector: w.source, Samples: w.samples}, w.now)
	}
	return w
}

// benchRule is the expression of rule i and the value of its series.
func benchRule(i int) (expr string, value float64) {
	name := fmt.Sprintf("metric_%d", i)
	switch i % 10 {
	case 0, 1, 2:
		if i%50 == 0 {
			return name + `{name="n0"} == 1`, 1
		}
		return name + `{name="n0"} == 1`, 0
	case 3, 4, 5:
		return name + ` < 1`, 1
	case 6:
		return "increase(" + name + "[5m]) > 3", 7
	case 7:
		return "avg_over_time(" + name + `{name="n0"}[5m]) > .5`, 0.25
	case 8:
		return "min by (component) (" + name + ") == 1", 0
	}
	return "absent(" + name + `{name="n0"})`, 1
}

// evaluate does what the loop does once a second; if fresh, as after a collection, which
// may change the result of any rule. The time stays the same, or the window would be
// empty after five minutes of the benchmark.
func (w *workload) evaluate(fresh bool) *Snapshot {
	if fresh {
		w.core.version++
	}
	w.core.evaluate(context.Background(), w.now)
	return w.core.snapshot(context.Background(), w.now, time.Second)
}

// naive evaluates the rules with the engine and nothing else: no state, no
// snapshot, every expression parsed anew.
func (w *workload) naive(b *testing.B) {
	ctx := context.Background()
	for _, g := range w.core.groups {
		for _, e := range g.rules {
			query, err := w.core.query.engine.NewInstantQuery(ctx, w.core.window, nil, e.rule().Expr, w.now)
			if err != nil {
				b.Fatal(err)
			}
			if res := query.Exec(ctx); res.Err != nil {
				b.Fatal(res.Err)
			}
			query.Close()
		}
	}
}

// BenchmarkPass compares an evaluation, from the rules to the snapshot, with
// one engine query a rule over the same window: "fresh/naive" after a collection,
// "rest/naive" between two collections. They are ratios of processor time,
// taken in turns within one run.
func BenchmarkPass(b *testing.B) {
	for _, size := range []struct{ rules, series int }{{50, 500}, {1000, 10_000}, {1000, 100_000}} {
		b.Run(fmt.Sprintf("rules=%d/series=%d", size.rules, size.series), func(b *testing.B) {
			w := newWorkload(b, size.rules, size.series)
			w.checkFiring(b)
			var fresh, rest, naive time.Duration
			for b.Loop() {
				fresh += cpu(b, func() { w.evaluate(true) })
				naive += cpu(b, func() { w.naive(b) })
				rest += cpu(b, func() { w.evaluate(false) })
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(perOp(b, naive), "naive-cpu-ms")
			b.ReportMetric(float64(fresh)/float64(naive), "fresh/naive")
			b.ReportMetric(float64(rest)/float64(naive), "rest/naive")
		})
	}
}

// checkFiring makes sure that the rules are evaluated at all.
func (w *workload) checkFiring(b *testing.B) {
	b.Helper()
	firing := 0
	all := w.evaluate(true).Rules
	for _, r := range all {
		if r.Status == Failing {
			firing++
		}
	}
	if want := len(all) / 50; firing != want {
		b.Fatalf("rules that fire = %d, want %d", firing, want)
	}
}

// BenchmarkPassGrowth is what ten times the series, and ten times the rules,
// cost an evaluation after a collection in processor time, in turns within one run: 10 is linear.
func BenchmarkPassGrowth(b *testing.B) {
	for _, growth := range []struct {
		name                  string
		rules, series         int
		moreRules, moreSeries int
	}{
		{"series", 1000, 10_000, 1000, 100_000},
		{"rules", 100, 10_000, 1000, 10_000},
		{"both", 100, 10_000, 1000, 100_000},
	} {
		b.Run("10x="+growth.name, func(b *testing.B) {
			small, large := newWorkload(b, growth.rules, growth.series), newWorkload(b, growth.moreRules, growth.moreSeries)
			var before, after time.Duration
			for b.Loop() {
				before += cpu(b, func() { small.evaluate(true) })
				after += cpu(b, func() { large.evaluate(true) })
			}
			factor := float64(after) / float64(before)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(factor, "times-cpu")
			if factor > 10*growthMargin {
				b.Errorf("ten times the %s cost %.1f times the processor time, want linear or better", growth.name, factor)
			}
		})
	}
}

// cpu is the processor time of f, the garbage collector's included as far as it
// runs in the meantime.
func cpu(b *testing.B, f func()) time.Duration {
	before := processorTime(b)
	f()
	return processorTime(b) - before
}

// processorTime is what the process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func perOp(b *testing.B, d time.Duration) float64 {
	return float64(d) / float64(b.N) / float64(time.Millisecond)
}
