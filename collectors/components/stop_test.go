package components

import (
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
)

// A component could not report while this process was stopped. Its deadline begins anew, unless
// it had missed it before. What notices the stop first makes no difference.
func TestDeadlinesAfterAStop(t *testing.T) {
	first := map[string]func(c *Collector, at time.Time){
		"a collection": func(c *Collector, at time.Time) { _, _ = c.collect(at) },
		"a status":     func(c *Collector, at time.Time) { c.status(at) },
		"the timer":    func(c *Collector, at time.Time) { c.deadlinesAt(at) },
		"a report":     func(c *Collector, at time.Time) { _ = c.report(at, "other", collectors.Report{}) },
	}
	for name, notice := range first {
		t.Run(name, func(t *testing.T) {
			config := Config{}
			config.SetDefaults()
			config.Expect, config.Deadline = []string{"watcher", "dead", "other"}, model.Duration(30*time.Second)
			made, err := config.New(collectors.Env{Name: "components"})
			if err != nil {
				t.Fatal(err)
			}
			c := made.(*Collector)
			alive := func(at time.Time, want ...bool) {
				t.Helper()
				for i, s := range c.status(at)[:len(want)] {
					if *s.Alive != want[i] {
						t.Errorf("%s is alive: %t (%s), want %t", s.Name, *s.Alive, s.Reason, want[i])
					}
				}
			}
			begin := time.Now()
			for i, name := range config.Expect[:2] {
				if err := c.report(begin.Add(time.Duration(1-i)*20*time.Second), name, collectors.Report{}); err != nil {
					t.Fatal(err)
				}
			}
			c.deadlinesAt(begin.Add(20 * time.Second))
			c.deadlinesAt(begin.Add(30 * time.Second)) // the one that is dead, in time
			alive(begin.Add(30*time.Second), true, false)

			resumed := begin.Add(time.Hour)
			notice(c, resumed)
			alive(resumed, true, false)
			if passed, next := c.deadlinesAt(resumed); passed || next != 30*time.Second {
				t.Errorf("after the stop a deadline passed: %t, and the next is in %s, want one in 30s", passed, next)
			}
			alive(resumed.Add(29*time.Second), true, false)
			alive(resumed.Add(30*time.Second), false, false)
		})
	}
}
