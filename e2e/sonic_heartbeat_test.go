//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSonicHeartbeats runs Vitals and its listener as the page of the profile shows it, with
// a program that beats until it is stuck. Then the listener ends supervisord, and with it the
// container.
func TestSonicHeartbeats(t *testing.T) {
	t.Parallel()
	_, shown, _ := strings.Cut(read(t, "../docs/guides/sonic.md"), "```ini\n")
	shown, _, found := strings.Cut(shown, "```\n")
	if !found {
		t.Fatal("docs/guides/sonic.md shows no configuration of supervisord")
	}
	image := newSonicImage(t)
	b := newSonicBox(t, image, "/nowhere", nil)
	write(t, filepath.Join(b.dir, "watchdog_processes"), "program:orchagent\n")
	run := strings.Join([]string{
		filepath.Join(image.dir, "vitals"), "run", "--profile=sonic", "--web.unix-socket=" + b.socket(), "--set=socket=DIR/supervisor.sock",
		"--set=critical_processes=" + b.set["critical_processes"], "--set=watchdog_processes=" + filepath.Join(b.dir, "watchdog_processes"),
		"--set=heartbeat=4s",
	}, " ")
	ini := strings.NewReplacer(
		"/usr/bin/vitals run --profile=sonic", run,
		"/usr/bin/vitals supervisor-listener", filepath.Join(image.dir, "vitals")+" supervisor-listener --socket="+b.socket(),
	).Replace(shown)
	s := supervise(t, ini+`
[program:start]
command=/bin/true
startsecs=0
autorestart=false
[program:orchagent]
command=/bin/sh -c "while :; do test -e DIR/stuck || printf '<!--XSUPERVISOR:BEGIN-->heartbeat<!--XSUPERVISOR:END-->'; sleep 0.5; done"
stdout_capture_maxbytes=1KB
`)
	s.reach(t, "start", "EXITED", "orchagent", "RUNNING", "vitals", "RUNNING", "vitals-listener", "RUNNING")
	healthy := sonicAnswer{0, []string{"ok 0"}}
	b.await(t, healthy, "--state=alive")
	b.await(t, healthy)
	t.Run("E60 silent for longer than the deadline", func(t *testing.T) {
		write(t, filepath.Join(s.dir, "stuck"), "")
		stuck := sonicAnswer{113, []string{"HeartbeatLost", "orchagent is stuck"}}
		// A program has two minutes from when supervisord started it.
		await(t, "alive fails", 2*time.Minute+supervisorWithin, func() error { return stuck.check(b.probe(t, "--state=alive")) })
		if err := os.Remove(filepath.Join(s.dir, "stuck")); err != nil {
			t.Fatal(err)
		}
		b.await(t, healthy, "--state=alive")
		write(t, filepath.Join(s.dir, "stuck"), "")
		s.ended(t, time.Minute)
		await(t, "nothing is left of supervisord", supervisorWithin, func() error {
			if left := sessionOf(t, s.cmd.Process.Pid); len(left) > 0 {
				return fmt.Errorf("processes %v are there", left)
			}
			return nil
		})
	})
}
