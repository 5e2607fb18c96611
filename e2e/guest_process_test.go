//go:build e2e && guest

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"
)

func TestGuestProcess(t *testing.T) {
	d := vitalsAs(t, "", "name: daemon, process: {name: kuryr-daemon}", documentedRules(t, "process"))
	d.staysAlive(t)
	gone := func(m metrics) error {
		return errors.Join(m.want(0, "vitals_process_up", "process", "daemon"), m.wantFailure("gone", "vitals_process_failure", "process", "daemon"),
			m.wantAbsent("vitals_process_resident_memory_bytes", "process", "daemon"), m.wantRule("failing", "DaemonGone", "ready"))
	}
	d.awaits(t, "the daemon is not there yet", gone)
	began := float64(time.Now().Unix())
	w := holds(t, "kuryr-daemon", "", "hold", "20")
	m := d.awaits(t, "the daemon runs", func(m metrics) error {
		return errors.Join(m.want(1, "vitals_process_up", "process", "daemon"), m.wantFailure("", "vitals_process_failure", "process", "daemon"),
			m.want(1, "vitals_process_instances", "process", "daemon"),
			m.wantBetween(began-2, began+60, "vitals_process_start_time_seconds", "process", "daemon"),
			m.wantBetween(20*mebibyte, 40*mebibyte, "vitals_process_resident_memory_bytes", "process", "daemon"),
			m.wantBetween(1, 20, "vitals_process_threads", "process", "daemon"),
			m.wantBetween(3, 20, "vitals_process_open_fds", "process", "daemon"),
			m.wantBetween(64, 1<<21, "vitals_process_max_fds", "process", "daemon"),
			m.want(0, "vitals_process_zombie_children", "process", "daemon"),
			m.want(1, "vitals_process_states", "process", "daemon", "state", "sleeping"),
			m.want(0, "vitals_process_restarts_total", "process", "daemon"), m.wantRule("ok", "DaemonGone", "ready"))
	})
	t.Log(m.about(`process="daemon"`))
	for _, step := range []struct {
		signal         syscall.Signal
		stopped, sleep float64
		rule           string
	}{{syscall.SIGSTOP, 1, 0, "failing"}, {syscall.SIGCONT, 0, 1, "ok"}} {
		if err := w.Process.Signal(step.signal); err != nil {
			t.Fatal(err)
		}
		d.awaits(t, "the daemon got "+step.signal.String(), func(m metrics) error {
			return errors.Join(m.want(step.stopped, "vitals_process_states", "process", "daemon", "state", "stopped"),
				m.want(step.sleep, "vitals_process_states", "process", "daemon", "state", "sleeping"),
				m.want(1, "vitals_process_up", "process", "daemon"), m.wantRule(step.rule, "DaemonStopped", "ready"))
		})
	}
	w.kill()
	d.awaits(t, "the daemon is gone", gone)
	holds(t, "kuryr-daemon", "", "hold")
	d.awaits(t, "the daemon runs again", func(m metrics) error {
		return errors.Join(m.want(1, "vitals_process_up", "process", "daemon"), m.want(1, "vitals_process_restarts_total", "process", "daemon"))
	})
}

// A zombie has no program any more, and its parent may leave it there for ever.
func TestGuestProcessZombies(t *testing.T) {
	const n = 3
	parent := holds(t, "parent", "", "zombies", fmt.Sprint(n))
	d := vitalsAs(t, "", `
		name: parent, process: {name: parent}
		name: children, process: {name: exe}`, "")
	m := d.awaits(t, "zombies", func(m metrics) error {
		return errors.Join(m.want(1, "vitals_process_up", "process", "parent"), m.want(n, "vitals_process_zombie_children", "process", "parent"),
			m.want(0, "vitals_process_up", "process", "children"), m.wantFailure("gone", "vitals_process_failure", "process", "children"),
			m.want(n, "vitals_process_states", "process", "children", "state", "zombie"))
	})
	t.Log(m.about("vitals_process_"))
	parent.kill()
	d.awaits(t, "process 1 has buried them", func(m metrics) error {
		return errors.Join(m.want(0, "vitals_process_up", "process", "parent"), m.wantFailure("gone", "vitals_process_failure", "process", "children"))
	})
}

// What a user sees of a process of root depends on the mount of proc(5).
func TestGuestProcessHidden(t *testing.T) {
	w := holds(t, "kuryr-daemon", "", "hold")
	for _, tt := range []struct {
		name, who string
		up        float64
	}{
		{"all users see everything", "uid=1000", 1},
		{"the content is hidden", "uid=1000 hidepid=noaccess", -1},
		{"the process is hidden", "uid=1000 hidepid=invisible", -1},
		{"the process is hidden from all that may not trace it", "uid=1000 hidepid=ptraceable", -1},
		{"root sees what is hidden from users", "hidepid=invisible", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := vitalsAs(t, tt.who, fmt.Sprintf(`
				name: name, process: {name: kuryr-daemon}
				name: pid, process: {pid: %d}
				name: cgroup, process: {cgroup: /}
				name: net-admin, capability: {capabilities: [NET_ADMIN], process: {name: kuryr-daemon}}
				name: own, process: {}`, w.Process.Pid), documentedRules(t, "process"))
			d.staysAlive(t)
			m := d.awaits(t, tt.name, func(m metrics) error {
				errs := []error{m.want(1, "vitals_process_up", "process", "own"), m.wantFailure("", "vitals_process_failure", "process", "own")}
				for _, name := range []string{"name", "pid"} {
					if tt.up == 1 {
						errs = append(errs, m.want(1, "vitals_process_up", "process", name))
						continue
					}
					errs = append(errs, m.wantAbsent("vitals_process_up", "process", name), m.wantFailure("forbidden", "vitals_process_failure", "process", name))
				}
				return errors.Join(errs...)
			})
			t.Log(m.about("vitals_process_"))
		})
	}
}

// The four sets of a process, as they are in a pod with the capability, without it, and
// for a user who has it.
func TestGuestCapability(t *testing.T) {
	for _, tt := range []struct {
		name, who                               string
		effective, permitted, bounding, ambient float64
	}{
		{"root", "", 1, 1, 1, 0},
		{"root without it", "drop=NET_ADMIN", 0, 0, 0, 0},
		{"user", "uid=1000", 0, 0, 1, 0},
		{"user with it", "uid=1000 ambient=NET_ADMIN", 1, 1, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := vitalsAs(t, tt.who, "name: net-admin, capability: {capabilities: [net_admin]}", documentedRules(t, "capability"))
			d.staysAlive(t)
			status, rule := http.StatusOK, "ok"
			if tt.effective == 0 {
				status, rule = http.StatusInternalServerError, "failing"
			}
			d.awaits(t, tt.name, func(m metrics) error {
				return errors.Join(wantSets(m, "net-admin", tt.effective, tt.permitted, tt.bounding, tt.ambient), m.wantRule(rule, "NetAdminMissing", "ready"), d.want("/ready", status))
			})
		})
	}
}

// wantSets compares the sets of a process that have NET_ADMIN.
func wantSets(m metrics, name string, effective, permitted, bounding, ambient float64) error {
	errs := []error{m.wantFailure("", "vitals_process_failure", "process", name)}
	for set, want := range map[string]float64{"effective": effective, "permitted": permitted, "bounding": bounding, "ambient": ambient} {
		errs = append(errs, m.want(want, "vitals_process_capability", "process", name, "capability", "NET_ADMIN", "set", set))
	}
	return errors.Join(errs...)
}

// Vitals may have a capability that the measured daemon lacks.
func TestGuestCapabilityOfDaemon(t *testing.T) {
	d := vitalsAs(t, "", "name: net-admin, capability: {capabilities: [NET_ADMIN], process: {name: kuryr-daemon}}", documentedRules(t, "capability"))
	d.staysAlive(t)
	d.awaits(t, "no daemon", func(m metrics) error {
		return errors.Join(m.wantFailure("gone", "vitals_process_failure", "process", "net-admin"), m.wantRule("failing", "NetAdminProcessGone", "ready"),
			m.wantAbsent("vitals_process_capability", "process", "net-admin", "capability", "NET_ADMIN", "set", "effective"))
	})
	holds(t, "kuryr-daemon", "", "hold")
	d.awaits(t, "a daemon with it", func(m metrics) error { return wantSets(m, "net-admin", 1, 1, 1, 0) })
	without := holds(t, "kuryr-daemon", "drop=NET_ADMIN", "hold")
	d.awaits(t, "one of two daemons without it", func(m metrics) error { return wantSets(m, "net-admin", 0, 0, 0, 0) })
	without.kill()
	d.awaits(t, "a daemon with it again", func(m metrics) error { return wantSets(m, "net-admin", 1, 1, 1, 0) })
}

// A container with the host's PID namespace sees the processes of the host and of all other
// containers, and takes none of them for its own.
func TestGuestProcessOfHostPID(t *testing.T) {
	for _, name := range []string{"pods", "pods/own", "pods/other"} {
		newCgroup(t, name)
	}
	const collectors = `
		name: own, process: {name: kuryr-daemon}
		name: any, process: {name: kuryr-daemon, pid_namespace: any}`
	instances := func(own, all float64) func(m metrics) error {
		return func(m metrics) error {
			return errors.Join(m.want(own, "vitals_process_instances", "process", "own"), m.want(all, "vitals_process_instances", "process", "any"))
		}
	}
	holds(t, "kuryr-daemon", "", "hold")
	holds(t, "kuryr-daemon", "cgroup=pods/other pod", "hold")
	d := vitalsAs(t, "cgroup=pods/own pod", collectors, "")
	d.awaits(t, "those of the host and of another container", instances(0, 2))
	w := holds(t, "kuryr-daemon", "cgroup=pods/own pod", "hold")
	d.awaits(t, "one in the own container", instances(1, 3))
	w.kill()
	d.awaits(t, "it has ended", instances(0, 2))
	vitalsAs(t, "", collectors, "").awaits(t, "on the host all are the host's", instances(2, 2))
}
