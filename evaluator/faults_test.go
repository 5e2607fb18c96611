package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

const faultRules = upRule + `
      - alert: FaultyDown
        expr: faulty == 0
        labels: {state: alive}
        annotations: {no_data: fail}
      - alert: CollectorFails
        expr: vitals_collector_success{collector="faulty"} == 0
        labels: {severity: warning}
`

// TestFaultyCollectorDoesNotAffectOthers puts a collector with a fault beside one that
// is well. The rule over the latter stays ok all the time, and recovery shows.
func TestFaultyCollectorDoesNotAffectOthers(t *testing.T) {
	long := strings.Repeat("\xff\x00é", 1000)
	good := func() ([]collectors.Sample, error) { return []collectors.Sample{sample(1, "faulty")}, nil }
	tests := []struct {
		name  string
		fault func(ctx context.Context) ([]collectors.Sample, error)
		// status of the rule over the faulty collector, and a part of the error.
		status evaluator.Status
		err    string
	}{
		{"hangs", func(context.Context) ([]collectors.Sample, error) { time.Sleep(time.Minute); return good() }, evaluator.Unknown, "no result within the timeout of 5s"},
		{"answers after its deadline", func(context.Context) ([]collectors.Sample, error) { time.Sleep(6 * time.Second); return good() }, evaluator.Unknown, "no result within the timeout of 5s"},
		{"gives up at its deadline", func(ctx context.Context) ([]collectors.Sample, error) {
			<-ctx.Done()
			return []collectors.Sample{sample(0, "faulty")}, ctx.Err()
		}, evaluator.Failing, "context deadline exceeded"},
		{"panics", func(context.Context) ([]collectors.Sample, error) { panic(long) }, evaluator.Unknown, "panic: "},
		{"panics with nil", func(context.Context) ([]collectors.Sample, error) { panic(nil) }, evaluator.Unknown, "panic: "},
		{"has a nil pointer", func(context.Context) ([]collectors.Sample, error) { var s *stub; return nil, errors.New(s.text()) }, evaluator.Unknown, "panic: runtime error"},
		{"fails with a long error that is no text", func(context.Context) ([]collectors.Sample, error) { return nil, errors.New(long) }, evaluator.Unknown, "\uFFFD"},
		{"fails without a message", func(context.Context) ([]collectors.Sample, error) { return nil, errors.New("") }, evaluator.Unknown, ""},
		{"repeats a series", func(context.Context) ([]collectors.Sample, error) {
			return []collectors.Sample{sample(0, "faulty"), sample(0, "faulty")}, errors.New("twice")
		}, evaluator.Failing, "twice"},
		{"yields labels that are no text", func(context.Context) ([]collectors.Sample, error) {
			return []collectors.Sample{sample(0, "faulty", "l", "\xff\xfe")}, errors.New("binary")
		}, evaluator.Failing, "binary"},
		{"takes another one's name", func(context.Context) ([]collectors.Sample, error) {
			return []collectors.Sample{sample(1, "up", "collector", "faulty")}, errors.New("not mine")
		}, evaluator.Unknown, "not mine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, v := gauge("up")
				v.Store(1)
				var healed atomic.Bool
				faulty := &stub{}
				faulty.collect = func(ctx context.Context) ([]collectors.Sample, error) {
					if !healed.Load() {
						return tt.fault(ctx)
					}
					return good()
				}
				e, stop := start(t, evaluator.Config{Files: parse(t, faultRules), Sources: []evaluator.Source{source("faulty", faulty), source("c", c)}})
				time.Sleep(6 * time.Second)
				for range 30 {
					time.Sleep(time.Second)
					if got := e.Snapshot().Rules[0].Status; got != evaluator.OK {
						t.Fatalf("the rule over the other collector is %s, want ok", got)
					}
				}
				col, rule := collector(t, e, "faulty"), e.Snapshot().Rules[1]
				if col.Success || !strings.Contains(col.Error, tt.err) {
					t.Errorf("collector = success %t, error %q, want a failure with %q", col.Success, col.Error, tt.err)
				}
				if len(col.Error) > 512 || !utf8.ValidString(col.Error) {
					t.Errorf("error = %q (%d bytes), want at most 512 of valid UTF-8", col.Error, len(col.Error))
				}
				if rule.Status != tt.status {
					t.Errorf("the rule over the faulty collector is %s, want %s", rule.Status, tt.status)
				}
				if got := e.Snapshot().Rules[2].Status; got != evaluator.Failing {
					t.Errorf("the rule over vitals_collector_success is %s, want failing", got)
				}
				if n := c.collections.Load(); n < 3 {
					t.Errorf("collections of the other collector = %d, want at least 3 in 36s", n)
				}
				healed.Store(true)
				time.Sleep(2 * time.Minute)
				if got := collector(t, e, "faulty"); !got.Success || got.Error != "" || e.Snapshot().Rules[1].Status != evaluator.OK {
					t.Errorf("after the fault: success %t, error %q, rule %s, want all well", got.Success, got.Error, e.Snapshot().Rules[1].Status)
				}
				stop()
			})
		})
	}
}

// text dereferences a pointer.
func (s *stub) text() string { return fmt.Sprint(s.collections.Load()) }

// TestValuesThatAreNoNumbers reach the snapshot as they are.
func TestValuesThatAreNoNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &stub{collect: func(context.Context) ([]collectors.Sample, error) {
			return []collectors.Sample{sample(math.NaN(), "up"), sample(math.Inf(1), "faulty")}, nil
		}}
		e, stop := start(t, evaluator.Config{Files: parse(t, faultRules), Sources: []evaluator.Source{source("faulty", c)}})
		time.Sleep(2 * time.Second)
		if col := collector(t, e, "faulty"); !col.Success {
			t.Errorf("collector = %+v, want a success: a NaN is a value", col)
		}
		for i, want := range []evaluator.Status{evaluator.OK, evaluator.OK, evaluator.OK} {
			if got := e.Snapshot().Rules[i]; got.Status != want {
				t.Errorf("%s is %s, want %s", got.Name, got.Status, want)
			}
		}
		found := 0
		for _, b := range e.Snapshot().Batches {
			for _, s := range b.Samples {
				switch name := s.Labels.Get(model.MetricNameLabel); {
				case name == "up" && math.IsNaN(s.Value), name == "faulty" && math.IsInf(s.Value, 1):
					found++
				}
			}
		}
		if found != 2 {
			t.Errorf("%d of the two values are in the snapshot, want both as they are", found)
		}
		stop()
	})
}
