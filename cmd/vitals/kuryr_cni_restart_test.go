//go:build !race

package main

import (
	"testing"
	"time"
)

// A daemon that was restarted after consecutive failures, and does not report the restart,
// is not restarted again for the same failures, but for the next one.
func TestCNIRestartForgives(t *testing.T) {
	const (
		fails    = 2 * time.Minute
		restarts = 3 * time.Minute
		failsOn  = 4 * time.Minute
	)
	// The clock of the test begins here: see testing/synctest.
	epoch := float64(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	got := watchNode(t, 5*time.Minute, func(collector string, at time.Duration) (signs, error) {
		row, last, started := 1.0, time.Second, time.Duration(0)
		if at >= fails {
			row, last = 4, fails
		}
		if at >= restarts {
			started = restarts - time.Second
		}
		if at >= failsOn {
			row, last = 5, failsOn
		}
		switch collector {
		case "components":
			return signs{
				`vitals_component_consecutive_failures{component="server",event="cni_add"}`:           row,
				`vitals_component_consecutive_failures_limit{event="cni_add"}`:                        3,
				`vitals_component_last_failure_timestamp_seconds{component="server",event="cni_add"}`: epoch + last.Seconds(),
			}, nil
		case "daemon":
			return signs{`vitals_process_start_time_seconds{process="daemon"}`: epoch + started.Seconds()}, nil
		}
		return nil, nil
	})
	failing, passing := change{"alive", "fail", "CNIAddFailing"}, change{"alive", "pass", ""}
	var alive []timed
	for _, c := range got {
		if c.State == "alive" {
			alive = append(alive, c)
		}
	}
	checkChanges(t, alive, []change{failing, passing, failing})
}
