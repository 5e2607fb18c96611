package tasks_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/internal/tasks"
)

// Tasks that end in time are waited for. The others are logged, and share one limit.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		all := tasks.New(slog.New(slog.NewTextHandler(&log, nil)))
		ended, end := false, make(chan struct{})
		all.Start("quick", func() { time.Sleep(time.Second); ended = true })
		all.Start("first", func() { <-end })
		all.Start("second", func() { <-end })
		start := time.Now()
		all.Wait(3 * time.Second)
		if took := time.Since(start); took != 3*time.Second || !ended {
			t.Errorf("Wait() took %s, ended %t, want 3s and the quick task ended", took, ended)
		}
		for _, want := range []string{"task=first", "task=second"} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("the log is %q, want %q once", log.String(), want)
			}
		}
		if strings.Contains(log.String(), "quick") {
			t.Errorf("the log is %q, want nothing about a task that ended", log.String())
		}
		close(end)
	})
}
