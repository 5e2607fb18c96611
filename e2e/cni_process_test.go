//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// netAdminDropped are commands that take NET_ADMIN away and then become another one.
func netAdminDropped() map[string][]string {
	return map[string][]string{
		"setpriv": {"setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"},
		"capsh":   {"capsh", "--drop=cap_net_admin", "--", "-c", `exec "$0" "$@"`},
	}
}

// netAdmin checks whether the process has NET_ADMIN in all sets in which root has it.
func (m *cniManager) netAdmin(has float64) error {
	var problems []error
	for _, set := range []string{"effective", "permitted", "bounding"} {
		problems = append(problems, m.has(has, "vitals_process_capability", "process", "net-admin", "capability", "NET_ADMIN", "set", set))
	}
	return errors.Join(append(problems, m.has(0, "vitals_process_capability", "process", "net-admin", "capability", "NET_ADMIN", "set", "ambient"))...)
}

// TestCNINetAdminDropped runs the health manager without NET_ADMIN. The node is not ready,
// and nothing is restarted, because the next process would have the same rights: netlink
// still answers, as listing links takes none.
func TestCNINetAdminDropped(t *testing.T) {
	t.Parallel()
	for name, before := range netAdminDropped() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCNI(t, cniOptions{})
			t.Run("dropped", func(t *testing.T) {
				m.run(t, before...)
				m.staysAlive(t)
				unready := func() error {
					return errors.Join(m.state("ready", "NetAdminMissing failing: "), m.netAdmin(0), m.has(1, "vitals_netlink_up", "netlink", "netlink"))
				}
				await(t, "not ready", cniWithin, unready)
				m.steady(t, 3*time.Second, unready)
			})
			t.Run("kept", func(t *testing.T) {
				m.run(t)
				m.staysAlive(t)
				await(t, "ready", cniWithin, func() error { return errors.Join(m.healthy(), m.netAdmin(1)) })
			})
		})
	}
}

// process compares a series of the process of the CNI daemon.
func (m *cniManager) process(want float64, name string) error {
	return m.has(want, "vitals_process_"+name, "process", "daemon")
}

// TestCNIDaemonProcess measures the CNI daemon from outside: its rights, its memory and
// whether it runs at all. It is killed, comes back without NET_ADMIN, and comes back with
// it. Its supervisor restarts it, so liveness does not depend on that.
func TestCNIDaemonProcess(t *testing.T) {
	t.Parallel()
	c := newMemoryCgroup(t)
	name := filepath.Base(string(c))
	m := startCNI(t, cniOptions{collectors: fmt.Sprintf(`
net-admin: {capability: {process: {name: %[1]s}}}
memory: {cgroup: {process: {name: %[1]s}}}
daemon: {process: {name: %[1]s}}
`, name)})
	m.staysAlive(t)
	gone := func() error {
		return errors.Join(m.state("ready", "DaemonGone failing: "), m.process(0, "up"),
			m.has(1, "vitals_process_failure", "process", "daemon", "reason", "gone"),
			m.has(1, "vitals_cgroup_failure", "cgroup", "memory", "reason", "process"))
	}
	await(t, "it has not been started", cniWithin, gone)

	env := append(m.environment("server", "silent"), "VITALS_NAME="+name)
	p := newPart(t, "server", c.inside(), env...)
	runs := func(restarts float64) func() error {
		return func() error {
			return errors.Join(m.healthy(), m.netAdmin(1), m.process(1, "up"), m.process(1, "instances"), m.process(restarts, "restarts_total"),
				m.process(0, "zombie_children"), m.uses(1, 60))
		}
	}
	await(t, "it runs", cniWithin, runs(0))

	p.kill(t)
	await(t, "it is killed", cniWithin, gone)
	p.before = append(c.inside(), netAdminDropped()["setpriv"]...)
	p.start(t)
	await(t, "it is back without NET_ADMIN", cniWithin, func() error {
		return errors.Join(m.state("ready", "NetAdminMissing failing: "), m.netAdmin(0), m.process(1, "up"), m.process(1, "restarts_total"))
	})
	p.kill(t)
	p.before = c.inside()
	p.start(t)
	await(t, "it is healthy again", cniWithin, runs(2))

	p.send(t, "zombie")
	await(t, "it has a zombie child", cniWithin, func() error { return m.process(1, "zombie_children") })
}
