package main

import (
	"fmt"
	"testing"
)

// cniConf is a kuryr.conf with the placeholders of testdata/kuryr.conf: the way to the
// API, and the further data of a test.
const cniConf = `[kubernetes]
api_root = @API_ROOT@
token_file = @TOKEN_FILE@
ssl_ca_crt_file = @CA_FILE@
ssl_verify_server_crt = True
`

// cniMemoryCases are those of a limit of 4096 MiB.
func cniMemoryCases() []kuryrCase {
	const limit = 4096 * mebibyte
	exceeded := func(amount string) verdict {
		return fails("MemoryLimitExceeded failing: The CNI daemon uses " + amount + " of memory, more than max_memory_usage allows.")
	}
	measured := func(metric string, bytes int) func(*testing.T, *kuryrLab) {
		return series(fmt.Sprintf("vitals_cgroup_memory_%s_bytes{cgroup=%q}", metric, "memory"), fmt.Sprintf("%g", float64(bytes)))
	}
	const unmeasured = "MemoryUnmeasured"
	return []kuryrCase{
		{id: "N07", name: "5120 MiB with a limit of 4096", given: []step{usesMemory(5120*mebibyte, 0, 0)},
			ready: fails(notAlive), alive: exceeded("5GiB")},
		{id: "N07", name: "5120 MiB of which 2048 are page cache", given: []step{usesMemory(5120*mebibyte, 2048*mebibyte, 0)}},
		{id: "N07", name: "4000 MiB and 200 MiB of swap", given: []step{usesMemory(4000*mebibyte, 0, 200*mebibyte)},
			ready: fails(notAlive), alive: exceeded("4.102GiB")},
		{id: "N09", name: "500 MiB", given: []step{usesMemory(500*mebibyte, 0, 0)}, check: both(
			measured("usage", 500*mebibyte), series(`vitals_memory_limit_bytes{cgroup="memory"}`, fmt.Sprintf("%g", float64(limit))))},
		{id: "N14", name: "exactly the limit", given: []step{usesMemory(limit, 0, 0)}},
		{id: "N15", name: "half a MiB above the limit", given: []step{usesMemory(limit+mebibyte/2, 0, 0)},
			ready: fails(notAlive), alive: exceeded("4GiB")},
		{id: "N18", name: "the file with the memory is gone", given: []step{noFile("cgroup/kuryr/memory.current")},
			alive: warns(unmeasured), check: failureOfMemory("no_memory_controller")},
		{id: "N18", name: "the cgroup is gone", given: []step{noFile("cgroup/kuryr")},
			alive: warns(unmeasured), check: failureOfMemory("missing")},
		{id: "N18", name: "the file with the memory makes no sense", given: []step{nodeFile("cgroup/kuryr/memory.current", "much\n")},
			alive: warns(unmeasured), check: failureOfMemory("unreadable")},
	}
}

func failureOfMemory(reason string) func(*testing.T, *kuryrLab) {
	return series(fmt.Sprintf("vitals_cgroup_failure{cgroup=%q,reason=%q}", "memory", reason), "1",
		`vitals_cgroup_memory_usage_bytes{cgroup="memory"}`, "")
}

// cniCgroupCases are the cgroups in which the daemon may be. The original distinguishes a
// container by words in the text, and reads another place if it finds none.
func cniCgroupCases() []kuryrCase {
	in := func(id, name, cgroup string, mebibytes int) kuryrCase {
		return kuryrCase{id: id, name: name, given: []step{nodeFile("proc/4711/cgroup", cgroup+"\n")},
			check: series(`vitals_cgroup_memory_usage_bytes{cgroup="memory"}`, fmt.Sprintf("%g", float64(mebibytes*mebibyte)))}
	}
	return []kuryrCase{
		in("A01", "a container of Docker, cgroup v1", "4:memory:/docker/4f1c\n1:name=systemd:/docker/4f1c", 200),
		in("A01", "a container of Docker, cgroup v2", "0::/system.slice/docker-4f1c.scope", 210),
		in("A02", "a container of Podman", "0::/machine.slice/libpod-4f1c.scope", 220),
		in("A03", "a unit of systemd", "0::/system.slice/kuryr-cni.service", 230),
		in("A03", "a container of CRI-O", "0::/kubepods.slice/crio-4f1c.scope", 240),
		in("A03", "a container of containerd", "0::/kubepods.slice/cri-containerd-4f1c.scope", 250),
	}
}

func TestCNIMemory(t *testing.T) {
	t.Parallel()
	lab := startCNILab(t, labOptions{kuryrConf: cniConf + "[cni_health_server]\nmax_memory_usage = 4096\n"})
	lab.runCases(t, cniMemoryCases())
	lab.runCases(t, cniCgroupCases())
}

// cniNoPatienceCases and cniLittlePatienceCases are those of other limits of failures
// in a row than three.
func cniNoPatienceCases() []kuryrCase {
	return []kuryrCase{{id: "F16", name: "one failure, with a limit of 0", given: []step{requests(1, "cni_add", "failure", "internal")},
		ready: fails(notAlive), alive: fails(addFailing(1))}}
}

func cniLittlePatienceCases() []kuryrCase {
	fail := func(count int) []step { return []step{requests(count, "cni_add", "failure", "netlink")} }
	return []kuryrCase{
		{id: "F17", name: "one failure, with a limit of 1", given: fail(1)},
		{id: "F17", name: "two failures in a row, with a limit of 1", given: fail(2), ready: fails(notAlive), alive: fails(addFailing(2))},
	}
}

func TestCNIFailuresCount(t *testing.T) {
	t.Parallel()
	for count, cases := range [][]kuryrCase{cniNoPatienceCases(), cniLittlePatienceCases()} {
		lab := startCNILab(t, labOptions{kuryrConf: fmt.Sprintf("%s[cni_daemon]\ncni_failures_count = %d\n", cniConf, count)})
		lab.runCases(t, cases)
	}
}
