package components_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// A component's reason is its note until it is alive and ready.
func TestPartNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "expect: [watcher, silent]\ndeadline: 30s")
		steps := []struct {
			report collectors.Report
			wait   time.Duration
			want   string
		}{
			{collectors.Report{Reason: "lists pods"}, 0, "lists pods"},
			{collectors.Report{Ready: new(true), Reason: "3 watches"}, 0, ""},
			{collectors.Report{Alive: new(false), Reason: "list pods: 401"}, 0, "list pods: 401"},
			{collectors.Report{Alive: new(true), Reason: "3 watches"}, 31 * time.Second, "no report for 31s"},
		}
		for _, step := range steps {
			mustReport(t, c, "watcher", step.report)
			time.Sleep(step.wait)
			want := map[string]string{"silent": "never reported", "watcher": step.want}
			if step.want == "" {
				delete(want, "watcher")
			}
			if label, got := c.PartNotes(); label != "component" || cmp.Diff(want, got) != "" {
				t.Errorf("PartNotes() after %+v = %q: %s", step.report, label, cmp.Diff(want, got))
			}
		}
	})
}

// The note of a component that fails follows its reason at once.
func TestReasonOfAFailingComponentStartsACollection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "expect: [a]")
		stop, collections := collectortest.Run(t, c)
		defer stop()
		synctest.Wait()
		for _, step := range []struct {
			reason string
			want   int
		}{{"401", 1}, {"503", 1}, {"503", 0}} {
			mustReport(t, c, "a", collectors.Report{Alive: new(false), Reason: step.reason})
			if got := len(collections); got != step.want {
				t.Errorf("reason %q: %d collections were started, want %d", step.reason, got, step.want)
			}
			for len(collections) > 0 {
				<-collections
			}
		}
	})
}
