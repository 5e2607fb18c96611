package evaluator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// inheritRules have a rule with a for that is pending, and one whose evidence must not go.
const inheritRules = upRule + `
      - alert: Slow
        expr: up == 1
        for: 1h
        labels: {state: alive}
`

// answering is a collector whose collections take that long and return these samples.
func answering(after time.Duration, samples ...collectors.Sample) *stub {
	return &stub{collect: func(context.Context) ([]collectors.Sample, error) {
		time.Sleep(after)
		return samples, nil
	}}
}

// exported are the samples of collectors in the newest snapshot, by their labels.
func exported(e *evaluator.Evaluator) []string {
	var all []string
	s := e.Snapshot()
	for _, b := range s.Batches[:len(s.Collectors)] {
		for _, sample := range b.Samples {
			all = append(all, sample.Labels.String())
		}
	}
	return all
}

// matching reports whether a rule's expression has an element now.
func matching(e *evaluator.Evaluator, rule string) bool {
	return slices.ContainsFunc(e.Snapshot().Rules, func(r evaluator.Rule) bool { return r.Name == rule && r.AlertCount > 0 })
}

func apply(t *testing.T, e *evaluator.Evaluator, cfg evaluator.Config) {
	t.Helper()
	if err := e.Apply(cfg); err != nil {
		t.Fatalf("Apply() = %v, want no error", err)
	}
	synctest.Wait() // for the snapshot
}

// TestChangedCollectorIsNoMissingEvidence replaces a collector by one whose first
// collection takes three seconds: until then the samples of the old one stay.
func TestChangedCollectorIsNoMissingEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := evaluator.Config{Files: parse(t, inheritRules), Sources: []evaluator.Source{source("c", answering(0, sample(1, "up")))}}
		e, stop := start(t, cfg)
		defer stop()
		time.Sleep(2 * time.Second)
		before, since := collector(t, e, "c"), e.Snapshot().Rules[1].Since

		cfg.Sources = []evaluator.Source{source("c", answering(3*time.Second, sample(0, "up")))}
		cfg.Sources[0].Interval, cfg.Sources[0].External = 20*time.Second, true
		apply(t, e, cfg)
		for range 29 {
			if v := verdict(t, e, "ready"); v.Verdict != evaluator.Pass {
				t.Fatalf("ready before the first collection = %s %q, want pass", v.Verdict, v.Reason)
			}
			if v := verdict(t, e, "started"); v.Verdict != evaluator.Pass {
				t.Fatalf("started before the first collection = %s %q, want pass", v.Verdict, v.Reason)
			}
			want := before
			want.Interval, want.External = 20*time.Second, true
			if got := collector(t, e, "c"); got != want {
				t.Fatalf("collector before its first collection = %+v, want %+v: the last collection of the old one", got, want)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if got := e.Snapshot().Rules[1]; got.Status != evaluator.Pending || !got.Since.Equal(since) {
			t.Errorf("Slow = %s since %s, want pending since %s", got.Status, got.Since, since)
		}
		time.Sleep(200 * time.Millisecond)
		if v := verdict(t, e, "ready"); v.Verdict != evaluator.Fail {
			t.Errorf("ready after the first collection = %s, want fail", v.Verdict)
		}
		if got := collector(t, e, "c"); !got.LastRun.After(before.LastRun) {
			t.Errorf("LastRun = %s, want it to be after %s", got.LastRun, before.LastRun)
		}
	})
}

// TestInheritanceEnds is about series that the new collector does not export.
func TestInheritanceEnds(t *testing.T) {
	const rule = `
groups:
  - name: g
    rules:
      - {alert: Any, expr: 'count({__name__=~"up|stamped"}) > 0'}
      - {alert: Old, expr: 'count({instance="old"}) > 0'}
`
	old := func() *stub {
		stamped := sample(1, "stamped", "instance", "old")
		stamped.T = time.Now().Add(-time.Second).UnixMilli()
		return answering(0, sample(1, "up", "instance", "old"), stamped)
	}
	newer := sample(1, "up", "instance", "new")
	// The grace of a collection of 100 ms is 250 ms: it is late after the limit of 200 ms.
	fast := func(s evaluator.Source) evaluator.Source {
		s.Interval, s.Timeout = 100*time.Millisecond, 100*time.Millisecond
		return s
	}
	ofKind := func(kind string) evaluator.Source {
		s := source("c", answering(time.Second, newer))
		s.Kind = kind
		return s
	}
	for _, tt := range []struct {
		name    string
		sources []evaluator.Source
		// ends is when the series of the old collector do.
		ends time.Duration
		// fails is set if the new collector fails.
		fails bool
	}{
		{"a new name", []evaluator.Source{source("d", answering(time.Second, newer))}, 0, false},
		{"a new kind", []evaluator.Source{ofKind("other")}, 0, false},
		{"removed", nil, 0, false},
		{"other labels", []evaluator.Source{source("c", answering(time.Second, newer))}, time.Second, false},
		{"a first collection that fails", []evaluator.Source{source("c", &stub{collect: func(context.Context) ([]collectors.Sample, error) {
			time.Sleep(time.Second)
			return nil, errors.New("refused")
		}})}, time.Second, true},
		{"a first collection that hangs", []evaluator.Source{source("c", answering(time.Hour, newer))}, 5500 * time.Millisecond, true},
		{"no collection within interval and timeout", []evaluator.Source{fast(source("c", answering(time.Hour, newer)))}, 200 * time.Millisecond, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := evaluator.Config{Interval: 50 * time.Millisecond, Files: parse(t, rule), Sources: []evaluator.Source{source("c", old())}}
				e, stop := start(t, cfg)
				defer time.Sleep(2 * time.Hour) // collectors that hang end
				defer stop()
				time.Sleep(time.Second)
				if !matching(e, "Old") {
					t.Fatal("the old series are not there")
				}
				cfg.Sources = tt.sources
				apply(t, e, cfg)
				if tt.ends > 0 {
					time.Sleep(tt.ends - 10*time.Millisecond)
					if !matching(e, "Old") || len(exported(e)) != 2 {
						t.Errorf("series before %s = %v, want those of the old collector", tt.ends, exported(e))
					}
				}
				time.Sleep(90 * time.Millisecond)
				if left := strings.Join(exported(e), " "); matching(e, "Old") || strings.Contains(left, "old") {
					t.Errorf("series after %s = %s, want none of the old collector", tt.ends, left)
				}
				time.Sleep(time.Second)
				if matching(e, "Any") == (tt.fails || len(tt.sources) == 0) || tt.fails && collector(t, e, "c").Success {
					t.Errorf("series in the end = %v, fails = %t", exported(e), tt.fails)
				}
			})
		})
	}
}

// TestReloadsDoNotExtendInheritance changes a collector again and again, always
// before its first collection has ended.
func TestReloadsDoNotExtendInheritance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", answering(0, sample(1, "up")))}}
		e, stop := start(t, cfg)
		defer stop()
		time.Sleep(time.Second)
		for i := range 20 {
			cfg.Sources = []evaluator.Source{source("c", answering(2*time.Second, sample(1, "up")))}
			apply(t, e, cfg)
			want := evaluator.Pass
			if i >= 15 { // 15 s, interval and timeout, after the first change
				want = evaluator.Fail
			}
			time.Sleep(time.Second - 100*time.Millisecond)
			if got := verdict(t, e, "ready").Verdict; got != want {
				t.Errorf("ready %d s after the first change = %s, want %s", i, got, want)
			}
			if got := collector(t, e, "c"); got.Ran != (want == evaluator.Pass) || got.Name != "c" || got.Kind != "stub" || got.Interval != 10*time.Second {
				t.Errorf("collector = %+v, want Ran = %t", got, want == evaluator.Pass)
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if got := verdict(t, e, "ready").Verdict; got != evaluator.Pass {
			t.Errorf("ready after a collection = %s, want pass", got)
		}
	})
}
