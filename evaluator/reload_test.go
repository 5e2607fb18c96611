package evaluator_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// TestApplyOfOtherTimes changes the interval and the timeout of a collector in the
// middle of a round: it is the same collector, so it is neither asked twice at once
// nor run twice.
func TestApplyOfOtherTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, running atomic.Int64
		c := &stub{
			collect: func(context.Context) ([]collectors.Sample, error) {
				time.Sleep(3 * time.Second) // whatever its context says
				return []collectors.Sample{sample(1, "up")}, nil
			},
			run: func(ctx context.Context, _ func()) {
				runs.Add(1)
				running.Add(1)
				defer running.Add(-1)
				<-ctx.Done()
				time.Sleep(100 * time.Millisecond) // closing takes a while
			},
		}
		cfg := evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}}
		e, stop := start(t, cfg)
		time.Sleep(11 * time.Second) // the second round has begun
		before := c.rounds.Load()

		cfg.Sources = []evaluator.Source{source("c", c)}
		cfg.Sources[0].Interval, cfg.Sources[0].Timeout = 4*time.Second, 4*time.Second
		if err := e.Apply(cfg); err != nil {
			t.Fatalf("Apply() = %v, want no error", err)
		}
		if got := verdict(t, e, "ready").Verdict; got != evaluator.Pass {
			t.Errorf("ready at the reload = %s, want pass", got)
		}
		time.Sleep(time.Second)
		if got := collector(t, e, "c").Interval; got != 4*time.Second {
			t.Errorf("Interval = %s, want the new one", got)
		}
		time.Sleep(20 * time.Second)
		if c.overlap.Load() {
			t.Error("two rounds ran at the same time, want one at a time")
		}
		if n := c.rounds.Load() - before; n < 4 || n > 6 {
			t.Errorf("rounds in 21s at an interval of 4s = %d, want 4 to 6", n)
		}
		if runs.Load() != 1 || running.Load() != 1 {
			t.Errorf("Run was called %d times and runs %d times, want once", runs.Load(), running.Load())
		}
		stop()
		time.Sleep(5 * time.Second) // the last round ends
	})
}

// TestReloadErrorIsBounded has far more mistakes than anybody reads.
func TestReloadErrorIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := start(t, evaluator.Config{})
		e.ReloadFailed(errors.New("vitals.yml:1:1: first\n" + strings.Repeat("vitals.yml:2:1: \xff more\n", 10_000)))
		time.Sleep(time.Second)
		got := e.Snapshot().Reload.Error
		if len(got) > 4096 || !utf8.ValidString(got) || !strings.HasPrefix(got, "vitals.yml:1:1: first\n") || !strings.HasSuffix(got, "...") {
			t.Errorf("Reload.Error = %d bytes, %.40q, want the first mistakes in at most 4096", len(got), got)
		}
		stop()
	})
}
