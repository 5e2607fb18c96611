package evaluator_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
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

// TestVerdictsAreLoggedWhenTheyChange lets a state pass, warn, fail and pass, and
// compares the log.
func TestVerdictsAreLoggedWhenTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		for _, v := range []int64{2, 1, 0, 2} {
			level.Store(v)
			time.Sleep(time.Minute)
		}
		e.Shutdown()
		time.Sleep(time.Second)
		cancel()
		<-done
		var got []string
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "state=ready") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		want := []string{
			`level=INFO msg="state passes" state=ready`,
			`level=WARN msg="state passes with a warning" state=ready rules=[Low]`,
			`level=WARN msg="state fails" state=ready rules=[Empty]`,
			`level=INFO msg="state passes" state=ready`,
			`level=WARN msg="state fails" state=ready reason="shutting down"`,
		}
		if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
			t.Errorf("log of ready =\n%s\nwant\n%s", a, b)
		}
	})
}
