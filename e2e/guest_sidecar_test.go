//go:build e2e && guest

package e2e_test

import (
	"errors"
	"testing"
)

// A container sees no cgroup of its neighbour, but the neighbour's process and, with the
// right to trace it, what that process sees.
func TestGuestCgroupOfAnotherContainer(t *testing.T) {
	newCgroup(t, "pods")
	newCgroup(t, "pods/sidecar").set(t, "memory.max", "512M")
	newCgroup(t, "pods/workload").set(t, "memory.max", "200M")
	w := holds(t, "kuryr-daemon", "cgroup=pods/workload pod", "hold", "40")
	const collectors = `
		name: own, cgroup: {}
		name: daemon, cgroup: {process: {name: kuryr-daemon}}`
	vitalsAs(t, "cgroup=pods/sidecar pod drop=SYS_PTRACE", collectors, "").awaits(t, "the other container is out of reach", func(m metrics) error {
		return errors.Join(whole(m, "own"), m.want(512*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "own"),
			m.wantFailure("forbidden", "vitals_cgroup_failure", "cgroup", "daemon"),
			m.wantAbsent("vitals_cgroup_memory_usage_bytes", "cgroup", "daemon"))
	})
	d := vitalsAs(t, "cgroup=pods/sidecar pod", collectors, "")
	d.awaits(t, "the other container is measured", func(m metrics) error {
		return errors.Join(whole(m, "own"), whole(m, "daemon"),
			m.want(200*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "daemon"),
			m.wantBetween(40*mebibyte, 60*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", "daemon"))
	})
	w.kill()
	d.awaits(t, "the other container has ended", func(m metrics) error {
		return errors.Join(whole(m, "own"), m.wantFailure("process", "vitals_cgroup_failure", "cgroup", "daemon"))
	})
}
