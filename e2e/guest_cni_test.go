//go:build e2e && guest

package e2e_test

import (
	"errors"
	"fmt"
	"testing"
)

// TestGuestCNI plays a day of a CNI daemon with the profile as it is shipped, on cgroup
// v2: it is not there, has lost its rights, grows past its limit, is restarted, and is
// killed by the kernel. Only one of these is for liveness.
func TestGuestCNI(t *testing.T) {
	t.Parallel()
	c := newCgroup(t, "kuryr")
	c.set(t, "memory.swap.max", "0")
	m := startCNI(t, cniOptions{
		collectors: fmt.Sprintf(`
net-admin: {capability: {process: {name: kuryr-daemon}}}
memory: {cgroup: {process: {name: kuryr-daemon}, limit: %dMiB}}
daemon: {process: {name: kuryr-daemon}}
`, memoryLimit),
		rules: []string{"[30m]", "[15s]", ", 3600)", ", 30)", "[20m] offset 10m", "[10s] offset 5s"},
		more:  "kuryr-cni-memory",
	})
	m.timeout = guestSlack
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of vitals:\n%s", m.tail())
		}
	})
	await(t, "no daemon", guestSlack, func() error { return errors.Join(m.state("ready", "DaemonGone failing: "), m.state("alive")) })
	w := holds(t, "kuryr-daemon", "cgroup=kuryr drop=NET_ADMIN", "hold", "10")
	await(t, "without NET_ADMIN", guestSlack, func() error {
		return errors.Join(m.state("ready", "NetAdminMissing failing: "), m.netAdmin(0), m.state("alive"))
	})
	w.kill()
	w = work(t, "kuryr-daemon", "cgroup=kuryr", "grow", "80", "24")
	await(t, "healthy", guestSlack, func() error { return errors.Join(m.healthy(), m.netAdmin(1)) })
	await(t, "the forecast warns", guestSlack, func() error { return m.rule("MemoryGrowsToLimit", "alive", "failing") })
	if err := errors.Join(m.healthy(), m.uses(1, memoryLimit), m.rule("MemoryLimitExceeded", "alive", "ok")); err != nil {
		t.Errorf("when the forecast warns: %v", err)
	}
	await(t, "the limit is exceeded", guestSlack, func() error {
		return errors.Join(m.state("alive", "MemoryLimitExceeded failing: "), m.uses(memoryLimit, 2*memoryLimit))
	})
	w.kill()
	// The kernel's limit comes before that of the configuration.
	c.set(t, "memory.max", "32M")
	holds(t, "kuryr-daemon", "cgroup=kuryr", "hold", "4")
	await(t, "restarted", guestSlack, m.healthy)
	m.staysAlive(t)
	<-work(t, "greedy", "cgroup=kuryr", "grow", "80", "0").ended
	await(t, "the kernel killed a process", guestSlack, func() error {
		return errors.Join(m.has(1, "vitals_cgroup_memory_oom_kills_total", "cgroup", "memory"), m.rule("OutOfMemory", "ready", "failing"))
	})
}
