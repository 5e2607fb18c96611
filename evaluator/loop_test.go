package evaluator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

func TestFirstSnapshotKnowsNothing(t *testing.T) {
	c, _ := gauge("up")
	e, err := evaluator.New(evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}}, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]evaluator.Verdict{"ready": evaluator.Fail, "alive": evaluator.Pass, "started": evaluator.Fail} {
		if got := verdict(t, e, state).Verdict; got != want {
			t.Errorf("State(%q) = %s, want %s", state, got, want)
		}
	}
	if got := e.Snapshot().Generation; got != 1 {
		t.Errorf("Generation = %d, want 1", got)
	}
}

func TestCollectorThatIgnoresItsContextDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := &stub{collect: func(context.Context) ([]collectors.Sample, error) {
			<-release
			return []collectors.Sample{sample(1, "stuck")}, nil
		}}
		c, v := gauge("up")
		v.Store(1)
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("stuck", stuck), source("c", c)}})
		time.Sleep(time.Second)
		if got := verdict(t, e, "ready").Verdict; got != evaluator.Pass {
			t.Errorf("ready while a collector hangs = %s, want pass", got)
		}
		if got := collector(t, e, "stuck"); got.Ran {
			t.Errorf("collector before its deadline = %+v, want no collection yet", got)
		}
		time.Sleep(5 * time.Second)
		got := collector(t, e, "stuck")
		if !got.Ran || got.Success || !strings.Contains(got.Error, "timeout of 5s") {
			t.Errorf("collector after its deadline = %+v, want a failure that names the timeout", got)
		}
		time.Sleep(time.Minute)
		if n := stuck.collections.Load(); n != 1 {
			t.Errorf("collections of a collector that is still busy = %d, want 1", n)
		}
		if n := c.collections.Load(); n < 6 {
			t.Errorf("collections of the other collector in a minute = %d, want at least 6", n)
		}
		close(release)
		time.Sleep(time.Second)
		for _, b := range e.Snapshot().Batches {
			for _, s := range b.Samples {
				if s.Labels.Get(model.MetricNameLabel) == "stuck" && collector(t, e, "stuck").LastSuccess.IsZero() {
					t.Error("the late result was taken over, want it dropped")
				}
			}
		}
		time.Sleep(time.Minute)
		if stuck.collections.Load() < 2 || !collector(t, e, "stuck").Success {
			t.Errorf("collector after it came back = %+v, want new collections that succeed", collector(t, e, "stuck"))
		}
		stop()
	})
}

func TestStopDoesNotWaitForAStuckCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := &stub{
			collect: func(context.Context) ([]collectors.Sample, error) { <-release; return nil, nil },
			run:     func(context.Context, func()) { <-release },
		}
		_, stop := start(t, evaluator.Config{Sources: []evaluator.Source{source("stuck", stuck)}})
		time.Sleep(time.Second)
		begin := time.Now()
		stop()
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("stop took %s, want at most 2s", took)
		}
		close(release)
	})
}

func TestCollectionsNeverOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &stub{
			collect: func(ctx context.Context) ([]collectors.Sample, error) {
				time.Sleep(4 * time.Second)
				return nil, nil
			},
			run: func(ctx context.Context, changed func()) {
				for ctx.Err() == nil {
					changed()
					time.Sleep(100 * time.Millisecond)
				}
			},
		}
		_, stop := start(t, evaluator.Config{Sources: []evaluator.Source{source("c", c)}})
		time.Sleep(time.Minute)
		stop()
		time.Sleep(5 * time.Second) // the last collection ends
		if c.overlap.Load() {
			t.Error("two collections ran at the same time, want one at a time")
		}
		if n := c.collections.Load(); n < 14 || n > 16 {
			t.Errorf("collections of 4s in a minute of constant requests = %d, want 14 to 16", n)
		}
	})
}

func TestReportChangesTheVerdictWithinMilliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, v := gauge("up")
		request := make(chan func(), 1)
		c.run = func(ctx context.Context, changed func()) {
			request <- changed
			<-ctx.Done()
		}
		v.Store(1)
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
		changed := <-request
		time.Sleep(3*time.Second + 500*time.Millisecond) // between two ticks
		for _, want := range []evaluator.Verdict{evaluator.Fail, evaluator.Pass} {
			v.Store(1 - v.Load())
			before := time.Now()
			changed()
			for verdict(t, e, "ready").Verdict != want {
				<-e.Changed()
			}
			if took := time.Since(before); took > 50*time.Millisecond {
				t.Errorf("from the report to the verdict %s took %s, want at most 50ms", want, took)
			}
		}
		stop()
	})
}

func TestConstantReportsCostABoundedNumberOfPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := gauge("up")
		c.run = func(ctx context.Context, changed func()) {
			for ctx.Err() == nil {
				changed()
				time.Sleep(time.Millisecond)
			}
		}
		e, stop := start(t, evaluator.Config{Sources: []evaluator.Source{source("c", c)}})
		time.Sleep(10 * time.Second)
		if got := e.Snapshot().Generation; got > 1100 {
			t.Errorf("generations in 10s = %d, want at most 100 a second", got)
		}
		stop()
	})
}

// TestReportsDoNotPostponeTheEvaluation has collectors report one after the other, so that
// there is always another result within the time that an evaluation waits for more.
func TestReportsDoNotPostponeTheEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sources []evaluator.Source
		for i := range 5 {
			c, _ := gauge("up")
			c.run = func(ctx context.Context, changed func()) {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				for ctx.Err() == nil {
					changed()
					time.Sleep(15 * time.Millisecond)
				}
			}
			sources = append(sources, source(string(rune('a'+i)), c))
		}
		e, stop := start(t, evaluator.Config{Interval: time.Hour, Sources: sources})
		time.Sleep(10 * time.Second)
		if got := e.Snapshot().Generation; got < 500 {
			t.Errorf("generations in 10s = %d, want at least 50 a second", got)
		}
		stop()
	})
}

func TestFailedCollectionKeepsItsSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &stub{collect: func(context.Context) ([]collectors.Sample, error) {
			return []collectors.Sample{sample(0, "up")}, errors.New(strings.Repeat("x", 2000))
		}}
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
		time.Sleep(time.Second)
		got := collector(t, e, "c")
		if got.Success || len(got.Error) != 512 {
			t.Errorf("collector = success %t, error of %d bytes, want a failure with a bounded error", got.Success, len(got.Error))
		}
		if s := verdict(t, e, "ready"); s.Verdict != evaluator.Fail || e.Snapshot().Rules[0].Status != evaluator.Failing {
			t.Errorf("rule = %s, want failing: unreachable is a measurement", e.Snapshot().Rules[0].Status)
		}
		stop()
	})
}

func TestApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, v := gauge("up")
		v.Store(1)
		stopped := make(chan struct{})
		removed, _ := gauge("old")
		removed.run = func(ctx context.Context, _ func()) {
			<-ctx.Done()
			close(stopped)
		}
		added, _ := gauge("new")
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("kept", kept), source("removed", removed)}})
		time.Sleep(time.Second)
		collected := kept.collections.Load()

		cfg := evaluator.Config{
			Files:    parse(t, upRule),
			States:   []evaluator.StatePolicy{{Name: "gold", NoData: rules.NoDataFail}},
			Interval: 200 * time.Millisecond,
			Sources:  []evaluator.Source{source("kept", kept), source("added", added)},
		}
		if err := e.Apply(cfg); err != nil {
			t.Fatalf("Apply() = %v, want no error", err)
		}
		<-stopped
		generation := e.Snapshot().Generation
		time.Sleep(2 * time.Second)
		if got := e.Snapshot().Generation - generation; got < 8 || got > 14 {
			t.Errorf("evaluations in 2s at the new interval of 200ms = %d, want about 10", got)
		}
		if got := kept.collections.Load(); got != collected {
			t.Errorf("collections of the collector that stayed = %d, want %d: it was not restarted", got, collected)
		}
		if added.collections.Load() == 0 {
			t.Error("the added collector had no collection")
		}
		s := e.Snapshot()
		if len(s.States) != 4 || s.States[3].Name != "gold" || len(s.Collectors) != 2 {
			t.Errorf("states %v, collectors %v, want the new ones", s.States, s.Collectors)
		}
		if !s.Reload.OK || s.Reload.At.IsZero() {
			t.Errorf("Reload = %+v, want a success", s.Reload)
		}
		e.ReloadFailed(errors.New("vitals.yml:3:1: no"))
		time.Sleep(time.Second)
		if got := e.Snapshot().Reload; got.OK || got.Error != "vitals.yml:3:1: no" || got.LastSuccess.IsZero() {
			t.Errorf("Reload = %+v, want a failure with the time of the last success", got)
		}
		if got := verdict(t, e, "ready").Verdict; got != evaluator.Pass {
			t.Errorf("ready after a bad reload = %s, want pass: the last good one stays", got)
		}
		stop()
		if err := e.Apply(cfg); err == nil {
			t.Error("Apply() after the end = nil, want an error")
		}
	})
}

func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, v := gauge("up")
		v.Store(1)
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
		time.Sleep(time.Second)
		e.Shutdown()
		if got := verdict(t, e, "ready"); got.Verdict != evaluator.Fail || got.Reason != "shutting down" {
			t.Errorf("ready = %s %q, want fail \"shutting down\"", got.Verdict, got.Reason)
		}
		if got := verdict(t, e, "alive").Verdict; got != evaluator.Pass {
			t.Errorf("alive = %s, want pass", got)
		}
		stop()
	})
}

func TestStalledEvaluatorIsNotReadyAndLaterNotAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, v := gauge("up")
		v.Store(1)
		e, stop := start(t, evaluator.Config{StalledAliveAfter: 20 * time.Second, Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
		time.Sleep(time.Second)
		s := e.Snapshot()
		stop()
		for state, limit := range map[string]time.Duration{"ready": 5 * time.Second, "alive": 20 * time.Second} {
			for age, want := range map[time.Duration]evaluator.Verdict{limit: evaluator.Pass, limit + time.Millisecond: evaluator.Fail} {
				got, _ := s.State(state, s.At.Add(age))
				if got.Verdict != want {
					t.Errorf("%s of a snapshot that is %s old = %s, want %s", state, age, got.Verdict, want)
				}
				if want == evaluator.Fail && got.Reason != "evaluator stalled" {
					t.Errorf("reason = %q, want \"evaluator stalled\"", got.Reason)
				}
			}
		}
	})
}

// The limits follow the interval, so that alive never fails before Vitals itself.
func TestLimitsOfAStalledEvaluator(t *testing.T) {
	for _, tt := range []struct{ interval, after, maxAge, alive time.Duration }{
		{0, 0, 5 * time.Second, time.Minute},
		{10 * time.Second, 0, 30 * time.Second, time.Minute},
		{time.Minute, 0, 3 * time.Minute, 6 * time.Minute},
		{time.Second, 8 * time.Second, 5 * time.Second, 8 * time.Second},
	} {
		e, err := evaluator.New(evaluator.Config{Interval: tt.interval, StalledAliveAfter: tt.after}, evaluator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s := e.Snapshot(); s.MaxAge != tt.maxAge || s.AliveMaxAge != tt.alive {
			t.Errorf("limits at an interval of %s = %s and %s, want %s and %s", tt.interval, s.MaxAge, s.AliveMaxAge, tt.maxAge, tt.alive)
		}
	}
}
