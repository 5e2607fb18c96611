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
// middle of a collection: it is the same collector, so neither its collections nor Run
// overlap.
func TestApplyOfOtherTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, running atomic.Int64
		c := &stub{
			collect: func(context.Context) ([]collectors.Sample, error) {
				time.Sleep(3 * time.Second) // it ignores its context
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
		time.Sleep(11 * time.Second) // the second collection has begun
		before := c.collections.Load()

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
			t.Error("two collections ran at the same time, want one at a time")
		}
		if n := c.collections.Load() - before; n < 4 || n > 6 {
			t.Errorf("collections in 21s at an interval of 4s = %d, want 4 to 6", n)
		}
		if runs.Load() != 1 || running.Load() != 1 {
			t.Errorf("Run was called %d times and runs %d times, want once", runs.Load(), running.Load())
		}
		stop()
		time.Sleep(5 * time.Second) // the last collection ends
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

// TestReplacedCollectorEndsFirst replaces a collector that holds something open, such
// as a socket with a name: the new one must not start before the old one let go of it,
// and other collectors must not wait for that.
func TestReplacedCollectorEndsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Bool
		closing := func(takes time.Duration) *stub {
			c, _ := gauge("up")
			c.run = func(ctx context.Context, _ func()) {
				if held.Swap(true) {
					t.Error("a collector was started before the one that it replaces had ended")
				}
				<-ctx.Done()
				time.Sleep(takes)
				held.Store(false)
			}
			return c
		}
		kept, _ := gauge("kept")
		sources := func(c *stub) evaluator.Config {
			return evaluator.Config{Sources: []evaluator.Source{source("kept", kept), source("c", c)}}
		}
		e, stop := start(t, sources(closing(500*time.Millisecond)))
		time.Sleep(time.Second)
		last := closing(0)
		for _, c := range []*stub{closing(500 * time.Millisecond), closing(500 * time.Millisecond), last} {
			before := time.Now()
			if err := e.Apply(sources(c)); err != nil {
				t.Fatalf("Apply() = %v, want no error", err)
			}
			if took := time.Since(before); took > 100*time.Millisecond {
				t.Errorf("Apply() took %s, want it not to wait for collectors", took)
			}
			time.Sleep(100 * time.Millisecond) // less than the end takes
		}
		time.Sleep(5 * time.Second)
		if !collector(t, e, "c").Success || last.collections.Load() == 0 {
			t.Errorf("the last collector = %+v, want it to run", collector(t, e, "c"))
		}
		stop()
		if held.Load() {
			t.Error("a collector had not ended when Run returned")
		}
	})
}
