package evaluator_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

const logRules = `
groups:
  - name: levels
    rules:
      - {alert: Low, expr: level == 1, labels: {state: ready, severity: warning}}
      - {alert: Empty, expr: level == 0, labels: {state: ready}}
`

// readyLog runs logRules over a level, which change sets, and returns the lines about the state
// ready without their times, and how often that state changed.
func readyLog(t *testing.T, change func(level *atomic.Int64)) (got []string, transitions int) {
	t.Helper()
	c, level := gauge("level")
	level.Store(2)
	var log bytes.Buffer
	drop := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: drop}))
	e, err := evaluator.New(evaluator.Config{Files: parse(t, logRules), Sources: []evaluator.Source{source("c", c)}}, evaluator.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	change(level)
	e.Shutdown()
	time.Sleep(time.Second)
	cancel()
	<-done
	ready, _ := e.Snapshot().State("ready", time.Now())
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "state=ready") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	return got, int(ready.Transitions)
}

// TestVerdictsAreLoggedWhenTheyChange lets a state pass, warn, fail and pass, and
// compares the log.
func TestVerdictsAreLoggedWhenTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, _ := readyLog(t, func(level *atomic.Int64) {
			for _, v := range []int64{2, 1, 0, 2} {
				level.Store(v)
				time.Sleep(time.Minute)
			}
		})
		want := []string{
			`level=INFO msg="state ok" state=ready`,
			`level=WARN msg="state warning" state=ready rules=[Low] value=1`,
			`level=WARN msg="state failing" state=ready rules=[Empty] value=0`,
			`level=INFO msg="state ok" state=ready`,
			`level=WARN msg="state failing" state=ready reason="shutting down"`,
		}
		if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
			t.Errorf("log of ready =\n%s\nwant\n%s", a, b)
		}
	})
}

// A state that flaps for an hour is logged ten times, then once a minute with the number of its
// changes. The last line is its verdict.
func TestStateThatFlapsIsSummedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hour, pause = 3600, 10 // in seconds; the pause is the interval of the collector
		got, transitions := readyLog(t, func(level *atomic.Int64) {
			for i := range int64(hour / pause) {
				level.Store(2 * ((i + 1) % 2))
				time.Sleep(pause * time.Second)
			}
			level.Store(0)
			time.Sleep(10 * time.Minute)
		})
		if n := len(got); n < 60 || n > 60+10+3 {
			t.Fatalf("%d lines about %d changes in an hour, want ten and one a minute:\n%s", n, hour/pause, strings.Join(got, "\n"))
		}
		total := 0
		for _, line := range got {
			n := 1
			if _, text, ok := strings.Cut(line, "changes="); ok {
				if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
					t.Fatal(err)
				}
			}
			total += n
		}
		if transitions < 300 || total != transitions {
			t.Errorf("the lines sum up %d changes, want %d, and more than 300", total, transitions)
		}
		if last := got[len(got)-1]; !strings.Contains(last, "state failing") || !strings.Contains(last, "rules=[Empty]") {
			t.Errorf("the last line is %q, want the verdict", last)
		}
	})
}
