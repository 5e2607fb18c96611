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
		name: daemon, cgroup: {process: {name: kuryr-daemon, pid_namespace: any}}`
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

// With the host's mount another container of the pod is found without a capability: its
// path is hidden, and its name is not. A container of another pod has the same name.
func TestGuestCgroupOfContainerBeside(t *testing.T) {
	for _, name := range []string{"kubepods", "kubepods/burst", "kubepods/burst/pod1", "kubepods/guaranteed", "kubepods/guaranteed/pod2"} {
		newCgroup(t, name)
	}
	newCgroup(t, "kubepods/burst/pod1/workload").set(t, "memory.max", "100M")
	newCgroup(t, "kubepods/guaranteed/pod2/sidecar").set(t, "memory.max", "512M")
	newCgroup(t, "kubepods/guaranteed/pod2/workload").set(t, "memory.max", "200M")
	holds(t, "namesake", "cgroup=kubepods/burst/pod1/workload pod", "hold", "4")
	w := holds(t, "kuryr-daemon", "cgroup=kubepods/guaranteed/pod2/workload pod", "hold", "40")
	d := vitalsAs(t, "cgroup=kubepods/guaranteed/pod2/sidecar pod host readonly drop=SYS_PTRACE", `
		name: own, cgroup: {}
		name: daemon, cgroup: {process: {name: kuryr-daemon, pid_namespace: any}, limit: 64MiB}
		name: namesake, cgroup: {process: {name: namesake, pid_namespace: any}}`, documentedRules(t, "cgroup"))
	d.staysAlive(t)
	d.awaits(t, "both containers are measured", func(m metrics) error {
		return errors.Join(whole(m, "own"), whole(m, "daemon"), whole(m, "namesake"),
			m.want(512*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "own"),
			m.want(200*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "daemon"),
			m.wantBetween(40*mebibyte, 60*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", "daemon"),
			m.want(100*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "namesake"))
	})
	w.kill()
	d.awaits(t, "the other container has ended", func(m metrics) error {
		return errors.Join(whole(m, "own"), whole(m, "namesake"), m.wantFailure("process", "vitals_cgroup_failure", "cgroup", "daemon"))
	})
	holds(t, "kuryr-daemon", "cgroup=kubepods/guaranteed/pod2/workload pod", "hold", "20")
	d.awaits(t, "the other container has been restarted", func(m metrics) error {
		return errors.Join(whole(m, "daemon"), m.wantBetween(20*mebibyte, 35*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", "daemon"))
	})
}
