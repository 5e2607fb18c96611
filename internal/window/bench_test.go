package window_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/vitals-health/vitals/internal/window"
)

// filled returns a window of n series of n/100 names after one batch.
func filled(b *testing.B, n int, retention time.Duration) (*window.Window, *window.Source, []labels.Labels) {
	b.Helper()
	w := window.New()
	w.SetRetention(nil, retention)
	s := w.Source()
	var all []labels.Labels
	for i := range n {
		all = append(all, labels.FromStrings("__name__", "metric_"+strconv.Itoa(i/100), "dependency", "keystone", "resource", strconv.Itoa(i), "verb", "list"))
	}
	add(b, s, 0, all)
	return w, s, all
}

func add(b *testing.B, s *window.Source, at int64, all []labels.Labels) {
	s.Begin(at)
	for _, l := range all {
		if err := s.Add(l, 1, 0); err != nil {
			b.Fatal(err)
		}
	}
	s.End()
}

func BenchmarkRound10k(b *testing.B) {
	for _, retention := range []time.Duration{0, 5 * time.Minute} {
		b.Run(retention.String(), func(b *testing.B) {
			_, s, all := filled(b, 10_000, retention)
			at := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				at += 5000
				add(b, s, at, all)
			}
		})
	}
}

func BenchmarkInstantQuery10k(b *testing.B) {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute})
	for _, expr := range []string{`metric_7{resource="707"} == 0`, "metric_7 == 0", `sum({__name__=~".+"})`} {
		b.Run(expr, func(b *testing.B) {
			w, _, _ := filled(b, 10_000, 0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := instant(engine, w, expr, 1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
