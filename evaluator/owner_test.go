package evaluator

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
)

// Two collectors export one series: the first keeps it, for rules and on /metrics.
func TestASeriesHasOneOwner(t *testing.T) {
	first, second := &fakeCollector{"first"}, &fakeCollector{"second"}
	c, err := newCore(Config{
		Files: parseRules(t, strings.ReplaceAll(manyAlerts, "up >= 0", "up == 0")),
		Sources: []Source{
			{Name: "first", Interval: time.Minute, Timeout: time.Second, Collector: first},
			{Name: "second", Interval: time.Minute, Timeout: time.Second, Collector: second},
		},
	}, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	up := func(i string, v float64) collectors.Sample {
		return collectors.Sample{Labels: labels.FromStrings("__name__", "up", "i", i), Value: v}
	}
	at := epoch
	take := func(source collectors.Collector, samples ...collectors.Sample) {
		at = at.Add(time.Second)
		c.take(workers.Result{Collector: source, Samples: samples}, at)
	}
	take(first, up("a", 1))
	take(second, up("b", 1), up("a", 0), up("c", 1))
	c.evaluate(context.Background(), at)
	s := c.snapshot(context.Background(), at, 0)
	if s.Rules[0].AlertCount != 0 {
		t.Errorf("alerts = %d, want none: the value of the second collector is dropped", s.Rules[0].AlertCount)
	}
	const want = `1 sample dropped: other collectors or rules export the series, such as up{i="a"}`
	if got := s.Collectors[1]; got.Success || got.Error != want {
		t.Errorf("second collector = %t %q, want %q", got.Success, got.Error, want)
	}
	if !s.Collectors[0].Success || len(s.Batches[0].Samples) != 1 {
		t.Errorf("first collector = %+v with %d samples, want a success with 1", s.Collectors[0], len(s.Batches[0].Samples))
	}
	if got := s.Batches[1].Samples; len(got) != 2 || got[0].Labels.Get("i") != "b" || got[1].Labels.Get("i") != "c" {
		t.Errorf("samples of the second collector = %v, want b and c", got)
	}

	take(first)
	take(second, up("a", 0), up("b", 1))
	c.evaluate(context.Background(), at)
	c.evaluate(context.Background(), at.Add(time.Second))
	s = c.snapshot(context.Background(), at, 0)
	if !s.Collectors[1].Success || s.Rules[0].AlertCount != 1 {
		t.Errorf("second collector = %+v, %d alerts, want a success and 1 alert: the first has left the series", s.Collectors[1], s.Rules[0].AlertCount)
	}
}
