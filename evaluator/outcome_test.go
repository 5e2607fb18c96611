package evaluator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// A collector that fails every other time is logged ten times, then once a minute. The lines
// sum up all changes, and the last line is the outcome that stays.
func TestCollectorThatFlapsIsSummedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flaps = 360
		c, done := &stub{}, 0
		c.collect = func(context.Context) ([]collectors.Sample, error) {
			if done++; done%2 == 0 || done > flaps {
				return nil, errors.New("refused")
			}
			return nil, nil
		}
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		e, err := evaluator.New(evaluator.Config{Sources: []evaluator.Source{source("c", c)}}, evaluator.Options{Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); e.Run(ctx) }()
		time.Sleep(2 * time.Hour)
		cancel()
		<-ended
		lines, total, last := 0, 0, ""
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, `msg="collector `) {
				continue
			}
			n := 1
			if _, text, ok := strings.Cut(line, "changes="); ok {
				if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
					t.Fatal(err)
				}
			}
			lines, total, last = lines+1, total+n, line
		}
		if lines < 60 || lines > 75 || total != flaps {
			t.Errorf("%d lines sum up %d changes, want one a minute and %d", lines, total, flaps)
		}
		if !strings.Contains(last, `msg="collector fails"`) || !strings.Contains(last, "err=refused") {
			t.Errorf("the last line is %q, want the failure that stays", last)
		}
	})
}
