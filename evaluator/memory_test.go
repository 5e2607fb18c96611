package evaluator

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/internal/budget"
)

const explosionRules = `
groups:
  - name: g
    rules:
      - {alert: Down, expr: up == 0, labels: {state: ready}}
      - {alert: Falls, expr: 'delta(up[1m]) < 0', labels: {state: alive}}
      - {alert: Busy, expr: 'sum(rate(requests[1m])) > 10', labels: {severity: warning}}
`

// explosion returns samples of series that no collection had before.
func explosion(n, series int) []collectors.Sample {
	samples := make([]collectors.Sample, series)
	for i := range samples {
		samples[i] = collectors.Sample{Labels: labels.FromStrings("__name__", "requests", "id", fmt.Sprint(n, "-", i)), Value: 1}
	}
	return samples
}

// A target with new labels in every collection, over which a rule has a range: its collector
// alone fails, and succeeds again once the series have expired.
func TestLabelExplosionFailsItsCollectorAlone(t *testing.T) {
	const limit = 4 << 20
	var log bytes.Buffer
	good, bad := &fakeCollector{"good"}, &fakeCollector{"bad"}
	c, err := newCore(Config{Files: parseRules(t, explosionRules), Sources: []Source{
		{Name: "bad", Interval: time.Second, Timeout: time.Second, Collector: bad},
		{Name: "good", Interval: time.Second, Timeout: time.Second, Collector: good},
	}}, Options{Memory: budget.New(limit), Logger: slog.New(slog.NewTextHandler(&log, nil))}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	at := epoch
	collect := func(requests []collectors.Sample) *Snapshot {
		t.Helper()
		at = at.Add(time.Second)
		c.take(workers.Result{Collector: bad, Samples: requests}, at)
		c.take(workers.Result{Collector: good, Samples: upSamples(1)}, at)
		c.evaluate(context.Background(), at)
		s := c.snapshot(context.Background(), at, 0)
		if !s.Collectors[1].Success || s.Rules[0].Status != OK || s.Rules[1].Status != OK {
			t.Fatalf("good = %+v, rules %s and %s, want a success and ok", s.Collectors[1], s.Rules[0].Status, s.Rules[1].Status)
		}
		if s.Memory.Bytes > limit || s.Memory.Limit != limit {
			t.Fatalf("memory = %+v, want at most %d bytes", s.Memory, limit)
		}
		return s
	}
	failed := 0
	for n := range 60 {
		s := collect(explosion(n, 2000))
		if got := s.Collectors[0]; got.Refused {
			failed++
			if got.Success || !strings.HasPrefix(got.Error, "not enough memory: ") || len(s.Batches[0].Samples) > 0 {
				t.Fatalf("bad = %+v, want a failure with its reason and without samples", got)
			}
			if v := valueOf(s, "vitals_collector_failure", "bad"); v != 1 {
				t.Fatalf(`vitals_collector_failure{collector="bad"} = %g, want 1`, v)
			}
		}
	}
	if failed < 40 {
		t.Errorf("%d of 60 collections failed, want most of them", failed)
	}
	for range 90 {
		collect(nil)
	}
	if s := collect(explosion(1000, 500)); !s.Collectors[0].Success || valueOf(s, "vitals_collector_failure", "bad") != 0 {
		t.Errorf("bad = %+v after the explosion, want a success", s.Collectors[0])
	}
	if lines := strings.Count(log.String(), "samples of the collector are"); lines == 0 || lines > workers.NewChanges {
		t.Errorf("%d lines in the log about the memory, want 1 to %d:\n%s", lines, workers.NewChanges, log.String())
	}
}

// valueOf returns the value of an own metric of a collector, or -1.
func valueOf(s *Snapshot, name, collector string) float64 {
	for _, sample := range s.Batches[len(s.Batches)-1].Samples {
		if sample.Labels.Get("__name__") == name && sample.Labels.Get("collector") == collector {
			return sample.Value
		}
	}
	return -1
}

// keep_firing_for keeps the alerts of series that have ended: without a bound, those of every
// collection of an explosion. Recorded series count as well.
func TestMemoryOfAlertsAndRecordedSeries(t *testing.T) {
	const limit = 4 << 20
	bad := &fakeCollector{"bad"}
	c, err := newCore(Config{Files: parseRules(t, `
groups:
  - name: g
    rules:
      - {alert: Kept, expr: requests > 0, keep_firing_for: 1h}
      - {record: requests:max, expr: requests > 0}
      - {alert: Ranged, expr: 'sum(rate(requests:max[1h])) > 10'}
`), Sources: []Source{{Name: "bad", Interval: time.Second, Timeout: time.Second, Collector: bad}}}, Options{Memory: budget.New(limit)}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	var s *Snapshot
	at := epoch
	for n := range 60 {
		at = at.Add(time.Second)
		c.take(workers.Result{Collector: bad, Samples: explosion(n, 200)}, at)
		c.evaluate(context.Background(), at)
		s = c.snapshot(context.Background(), at, 0)
		if s.Memory.Bytes > limit {
			t.Fatalf("%d bytes after %d collections, want at most %d", s.Memory.Bytes, n, limit)
		}
	}
	if !s.Collectors[0].Success {
		t.Errorf("collector = %+v, want a success: the rules hold the memory", s.Collectors[0])
	}
	if got := s.Rules[0].Reason; !strings.HasPrefix(got, "not enough memory") {
		t.Errorf("reason of Kept = %q, want the memory", got)
	}
	if err := c.groups[0].rules[1].recording.err; err == nil {
		t.Error("the recording rule succeeds, want the memory as its error")
	}
	if err := c.apply(Config{}, at); err != nil {
		t.Fatal(err)
	}
	c.evaluate(context.Background(), at.Add(2*time.Hour))
	c.snapshot(context.Background(), at.Add(2*time.Hour), 0)
	if s := c.snapshot(context.Background(), at.Add(3*time.Hour), 0); s.Memory.Bytes > 10_000 {
		t.Errorf("%d bytes without the rules and the collector, want those of the own metrics", s.Memory.Bytes)
	}
}
