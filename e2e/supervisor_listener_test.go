//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// supervisorHeart is a program whose heart beats until a file stops it, one whose heart beats
// once, and one whose heart never does. The text of the first has three characters less than
// bytes, so that two of its lines remain if supervisord's length is used.
const supervisorHeart = `
[program:beats]
command=/bin/sh -c "while :; do test -e DIR/stuck || printf '<!--XSUPERVISOR:BEGIN-->grüüün\nzu<!--XSUPERVISOR:END-->'; sleep 0.5; done"
stdout_capture_maxbytes=1KB
[program:endless]
command=/bin/sh -c "printf '<!--XSUPERVISOR:BEGIN-->once<!--XSUPERVISOR:END-->'; exec sleep 1000"
stdout_capture_maxbytes=1KB
[program:mute]
command=/bin/sleep 1000
stdout_capture_maxbytes=1KB
`

// supervisorAlive are rules as the page of the listener shows them, with shorter durations.
const supervisorAlive = `
groups:
  - name: liveness
    rules:
      - alert: HeartbeatMissing
        expr: vitals_component_alive == 0
        labels: {state: alive, severity: critical}
        annotations: {summary: '{{ $labels.component }} is stuck.'}
      - alert: HeartbeatNeverSeen
        expr: vitals_component_reported == 0
        for: GRACE
        labels: {state: alive, severity: critical}
        annotations: {summary: '{{ $labels.component }} has never sent anything.'}
`

// underSupervisord is Vitals with its listener, run by a supervisord as the shipped
// configuration has it.
type underSupervisord struct {
	daemon
	*supervised
}

// superviseVitals runs the shipped configuration, whose texts may be replaced. Otherwise
// it is unchanged.
func superviseVitals(t *testing.T, grace string, replace ...string) *underSupervisord {
	t.Helper()
	listen, dir := address(t), shortDirectory(t, "")
	socket := filepath.Join(dir, "vitals.sock")
	for name, text := range map[string]string{
		"rules.yml": strings.Replace(supervisorAlive, "GRACE", grace, 1),
		"vitals.yml": "rule_files: [rules.yml]\nserver: {listen_address: '" + listen + "'}\n" +
			"collectors:\n  - {name: hearts, interval: 1s, timeout: 1s, components: {expect: [beats, endless, mute], deadline: 3s, deadlines: {endless: 0s}}}\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	conf := strings.NewReplacer(append([]string{
		"/usr/bin/vitals run", os.Getenv("VITALS_BIN") + " run --web.unix-socket=" + socket,
		"/usr/bin/vitals supervisor-listener", os.Getenv("VITALS_BIN") + " supervisor-listener --socket=" + socket,
		"/etc/vitals/vitals.yml", filepath.Join(dir, "vitals.yml"),
		"/dev/stderr", "DIR/%(program_name)s.err", "/dev/stdout", "DIR/%(program_name)s.out",
	}, replace...)...).Replace(read(t, "../deploy/supervisor/vitals.conf"))
	u := &underSupervisord{daemon{&program{url: "http://" + listen}}, supervise(t, conf+supervisorHeart)}
	u.reach(t, "vitals", "RUNNING", "vitals-listener", "RUNNING", "beats", "RUNNING", "endless", "RUNNING", "mute", "RUNNING")
	return u
}

// listener is the listener's process, and its log.
func (u *underSupervisord) listener(t *testing.T) (int, string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(u.control("pid", "vitals-listener")))
	if err != nil {
		t.Fatal(err)
	}
	return pid, read(t, filepath.Join(u.dir, "vitals-listener.err"))
}

// component waits for the state of one.
func (u *underSupervisord) component(t *testing.T, name string, reported, alive float64) {
	t.Helper()
	await(t, "component "+name, supervisorWithin, func() error {
		m, err := u.metrics()
		if err != nil {
			return err
		}
		err = m.want(reported, "vitals_component_reported", "component", name)
		if reported == 1 {
			err = errors.Join(err, m.want(alive, "vitals_component_alive", "component", name))
		}
		return err
	})
}

// TestSupervisorHeartbeats has programs' hearts beat, stop and beat again.
func TestSupervisorHeartbeats(t *testing.T) {
	t.Parallel()
	u := superviseVitals(t, "1h", " --on-failing=terminate", "")
	u.component(t, "beats", 1, 1)
	u.component(t, "endless", 1, 1)
	t.Run("a length in characters is no error", func(t *testing.T) {
		if _, log := u.listener(t); strings.Contains(log, "cannot parse events") {
			t.Errorf("the log of the listener:\n%s", log)
		}
	})
	t.Run("E61 never seen, within its grace", func(t *testing.T) {
		u.component(t, "mute", 0, 0)
		await(t, "alive passes", supervisorWithin, func() error { return u.want("/alive", http.StatusOK) })
	})
	t.Run("E60 silent, logged once, and beating again", func(t *testing.T) {
		write(t, filepath.Join(u.dir, "stuck"), "")
		u.component(t, "beats", 1, 0)
		await(t, "the listener logs the failure", time.Minute, func() error {
			if _, log := u.listener(t); !strings.Contains(log, "alive failing") {
				return errors.New(log)
			}
			return nil
		})
		if err := os.Remove(filepath.Join(u.dir, "stuck")); err != nil {
			t.Fatal(err)
		}
		u.component(t, "beats", 1, 1)
		await(t, "the listener logs the end", time.Minute, func() error {
			if _, log := u.listener(t); !strings.Contains(log, "alive is ok again") {
				return errors.New(log)
			}
			return nil
		})
		// Each failure has one line, however many ticks it lasts. On a busy machine a heart may miss a beat.
		_, log := u.listener(t)
		if failed, over := strings.Count(log, "alive failing"), strings.Count(log, "alive is ok again"); failed != over || !strings.Contains(log, "beats is stuck") {
			t.Errorf("the log of the listener, want that beats is stuck, and each failure and its end once:\n%s", log)
		}
	})
	t.Run("E62 silent without a deadline", func(t *testing.T) { u.component(t, "endless", 1, 1) })
	t.Run("E63 supervisord is killed", func(t *testing.T) {
		pid, _ := u.listener(t)
		if err := u.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		u.ended(t, supervisorWithin)
		await(t, "the listener has ended", supervisorWithin, func() error {
			if err := syscall.Kill(pid, 0); err == nil {
				return fmt.Errorf("process %d is there", pid)
			}
			return nil
		})
	})
}

// TestSupervisorTerminates ends supervisord when alive fails.
func TestSupervisorTerminates(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		grace string
		fail  func(t *testing.T, u *underSupervisord)
		want  string
	}{
		"E60 silent":     {"1h", func(t *testing.T, u *underSupervisord) { write(t, filepath.Join(u.dir, "stuck"), "") }, "beats is stuck"},
		"E61 never seen": {"20s", func(*testing.T, *underSupervisord) {}, "mute has never sent anything"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := superviseVitals(t, tt.grace, "--patience=3", "--patience=2")
			u.component(t, "beats", 1, 1)
			tt.fail(t, u)
			u.ended(t, 2*time.Minute)
			if log := read(t, filepath.Join(u.dir, "vitals-listener.err")); !strings.Contains(log, "terminating supervisord") || !strings.Contains(log, tt.want) {
				t.Errorf("the log of the listener, want the reason:\n%s", log)
			}
			if left := sessionOf(t, u.cmd.Process.Pid); len(left) > 0 {
				t.Errorf("processes %v are left of supervisord, want none", left)
			}
		})
	}
}
