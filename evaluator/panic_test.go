package evaluator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/panics"
)

// explode is named in the stack of its panic.
func explode() { panic("out of cheese") }

// TestCollectorThatPanics panics twice, in each place that a collector has. It recovers.
func TestCollectorThatPanics(t *testing.T) {
	dial := panics.Dial(func(context.Context, string, string) (net.Conn, error) { explode(); return nil, nil })
	tests := []struct {
		name  string
		panic func(ctx context.Context) error
	}{
		{"in a collection", func(context.Context) error { explode(); return nil }},
		{"in a goroutine", func(context.Context) error { return panics.Go(func() error { explode(); return nil }).Result() }},
		{"in a group", func(context.Context) error {
			var g errgroup.Group
			g.Go(panics.Caught(explode))
			panics.Raise(g.Wait())
			return nil
		}},
		{"in a callback of a library", func(ctx context.Context) error {
			_, err := dial(ctx, "tcp", "a:1")
			return fmt.Errorf("connect: %w", err)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &stub{}
				c.collect = func(ctx context.Context) ([]collectors.Sample, error) {
					if c.collections.Load() < 3 {
						return nil, tt.panic(ctx)
					}
					return []collectors.Sample{sample(1, "up")}, nil
				}
				e, log, stop := startLogged(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
				time.Sleep(time.Second)
				if got := collector(t, e, "c"); got.Success || !strings.Contains(got.Error, "panic: out of cheese") || len(got.Error) > collectors.MaxReason {
					t.Errorf("collector after a panic = %+v, want a failure with its bounded text", got)
				}
				time.Sleep(30 * time.Second)
				if got := verdict(t, e, "ready").Verdict; got != evaluator.Pass {
					t.Errorf("ready after recovery = %s, want pass", got)
				}
				stop()
				if got := strings.Count(log.String(), "collector panicked"); got != 1 || !strings.Contains(log.String(), "evaluator_test.explode") {
					t.Errorf("%d panics are logged, want one, with the stack of explode:\n%s", got, log)
				}
			})
		})
	}
}

// TestRunThatPanics panics in the first two calls of Run. What the collector exports in the
// meantime may be outdated, so it fails until a Run has lasted for an interval.
func TestRunThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, ended atomic.Int64
		c, v := gauge("up")
		v.Store(1)
		c.run = func(ctx context.Context, _ func()) {
			g, ctx := errgroup.WithContext(ctx)
			if n := runs.Add(1); n < 3 {
				g.Go(panics.Caught(func() { <-time.After(25 * time.Second); explode() }))
			}
			g.Go(panics.Caught(func() { <-ctx.Done(); ended.Add(1) }))
			panics.Raise(g.Wait())
		}
		e, log, stop := startLogged(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
		succeeds := func(at time.Duration, want bool) {
			t.Helper()
			got := collector(t, e, "c")
			if got.Success != want {
				t.Errorf("%s after the start: success %t (%s), want %t", at, got.Success, got.Error, want)
			}
			if !want && got.Error != "between collections: panic: out of cheese" {
				t.Errorf("error %q, want the panic", got.Error)
			}
			if ready := verdict(t, e, "ready").Verdict; (ready == evaluator.Pass) != want {
				t.Errorf("%s after the start: ready is %s, want no verdict from an outdated value", at, ready)
			}
		}
		begin := time.Now()
		for _, step := range []struct {
			at   time.Duration
			want bool
		}{
			{20 * time.Second, true},
			{27 * time.Second, false}, // the first Run panicked at 25 s
			{42 * time.Second, false}, // the second began at 35 s
			{47 * time.Second, true},  // and has run for an interval
			{62 * time.Second, false}, // it panicked at 60 s
			{82 * time.Second, true},  // the third lasts
		} {
			time.Sleep(step.at - time.Since(begin))
			succeeds(step.at, step.want)
		}
		stop()
		if runs.Load() != 3 || ended.Load() != 3 {
			t.Errorf("%d runs began and %d ended, want 3", runs.Load(), ended.Load())
		}
		if got := strings.Count(log.String(), "collector panicked between collections"); got != 2 || !strings.Contains(log.String(), "evaluator_test.explode") {
			t.Errorf("%d panics are logged, want two, with the stack of explode:\n%s", got, log)
		}
	})
}

// TestRunThatPanicsForEver fails for ever, and is logged once.
func TestRunThatPanicsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, v := gauge("up")
		v.Store(1)
		c.run = func(context.Context, func()) { explode() }
		e, log, stop := startLogged(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", c)}})
		for range 600 {
			time.Sleep(time.Second)
			if got := collector(t, e, "c"); got.Success {
				t.Fatal("the collector succeeds, want a failure until Run no longer panics")
			}
		}
		stop()
		if got := strings.Count(log.String(), "collector panicked"); got != 1 {
			t.Errorf("%d panics are logged, want one", got)
		}
	})
}

// startLogged runs an evaluator until the returned function is called.
func startLogged(t *testing.T, cfg evaluator.Config) (*evaluator.Evaluator, *bytes.Buffer, func()) {
	t.Helper()
	log := &bytes.Buffer{}
	e, err := evaluator.New(cfg, evaluator.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	running := panics.Go(func() struct{} { e.Run(ctx); return struct{}{} })
	return e, log, func() {
		cancel()
		running.Result()
	}
}

// TestPanicsAreLoggedOnce counts the log lines of a collector that panics in each
// collection, then fails, then panics again.
func TestPanicsAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &stub{}
		c.collect = func(context.Context) ([]collectors.Sample, error) {
			if n := c.collections.Load(); n == 4 {
				return nil, errors.New("no panic")
			}
			panic("out of cheese")
		}
		var log bytes.Buffer
		e, err := evaluator.New(evaluator.Config{Sources: []evaluator.Source{source("c", c)}}, evaluator.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		e.Run(ctx)
		for text, want := range map[string]int{"collector panicked": 2, "collector fails": 1, `stack="goroutine `: 2} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("%q stands %d times in the log, want %d:\n%s", text, got, want, log.String())
			}
		}
	})
}
