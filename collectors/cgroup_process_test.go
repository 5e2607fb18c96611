package collectors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

// cgroupProcess writes a process that started at a time, in ticks after the boot, and is
// in a cgroup.
func cgroupProcess(t testing.TB, tree string, pid, start int, name, cgroups string) {
	t.Helper()
	fakeProcess{pid: pid, comm: name, start: start, cgroup: cgroups + "\n"}.write(t, filepath.Join(tree, "proc"))
}

// cgroupHost is a tree with the own process, a mount of version 2 and three cgroups.
func cgroupHost(t testing.TB) string {
	t.Helper()
	tree := localDir(t)
	cgroupWrite(t, tree, "proc/self/cgroup", "0::/own\n")
	cgroupMounts(t, tree, "self", "/ TREE/cg cgroup2 nsdelegate")
	cgroupProcess(t, tree, 1, 0, "init", "0::/")
	for dir, usage := range map[string]int{"own": 1000, "a": 2000, "b": 3000} {
		cgroupFiles(t, tree, "cg/"+dir, "v2", usage)
	}
	return tree
}

func TestCgroupOfAProcess(t *testing.T) {
	tree := cgroupHost(t)
	cgroupProcess(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	cgroupProcess(t, tree, 42, 300, "kuryr-daemon", "0::/b")
	cgroupWrite(t, tree, "daemon.pid", "41\n")
	cgroupWrite(t, tree, "none.pid", "none\n")
	tests := []struct {
		process, reason, text string
		usage                 float64
	}{
		{"", "", "", 1000},
		{"pid: 41", "", "", 2000},
		{"pid_file: TREE/daemon.pid", "", "", 2000},
		{"name: kuryr-daemon", "", "", 3000}, // the oldest
		{"cgroup: /a", "", "", 2000},
		{"pid: 43", "process", "no process 43", 0},
		{"name: neutron-server", "process", "no process of name neutron-server", 0},
		{"pid_file: TREE/none.pid", "process", "is no number of a process", 0},
		{"pid_file: TREE/gone.pid", "process", "gone.pid: no such file", 0},
	}
	for _, tt := range tests {
		t.Run(tt.process, func(t *testing.T) {
			c := cgroupOf(t, tree, tt.process)
			if tt.reason != "" {
				cgroupWantFailure(t, c, tt.reason, tt.text)
				return
			}
			cgroupWant(t, c, tt.usage, "v2")
		})
	}
}

// cgroupOf makes a collector for the cgroup of a process of the tree.
func cgroupOf(t testing.TB, tree, process string) collectors.Collector {
	t.Helper()
	config := "process: {procfs: " + tree + "/proc}"
	if process != "" {
		config = "process: {" + strings.ReplaceAll(process, "TREE", tree) + ", procfs: " + tree + "/proc}"
	}
	return localNew(t, "c", config, &collectors.CgroupConfig{})
}

// What is found once is kept while it is right: the process that was searched for, its
// cgroup, the mounts.
func TestCgroupFollowsTheProcess(t *testing.T) {
	tree := cgroupHost(t)
	cgroupProcess(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	c := cgroupOf(t, tree, "name: kuryr-daemon")
	cgroupWant(t, c, 2000, "v2")

	cgroupMounts(t, tree, "self", "/ TREE/cg cgroup2 nsdelegate", "/a TREE/unused cgroup2 nsdelegate")
	cgroupFiles(t, tree, "cg/a", "v2", 2500)
	cgroupWant(t, c, 2500, "v2")

	cgroupProcess(t, tree, 41, 900, "kuryr-daemon", "0::/b") // it was moved
	cgroupWant(t, c, 3000, "v2")

	cgroupProcess(t, tree, 41, 900, "bash", "0::/own") // it runs something else
	cgroupWantFailure(t, c, "process", "no process of name kuryr-daemon")

	cgroupProcess(t, tree, 50, 1000, "kuryr-daemon", "0::/a")
	cgroupWant(t, c, 2500, "v2")

	fakeProcess{pid: 50, comm: "kuryr-daemon", state: "Z", start: 1000, cgroup: "0::/a\n"}.write(t, filepath.Join(tree, "proc"))
	cgroupWantFailure(t, c, "process", "it has ended and is a zombie")

	if err := os.RemoveAll(filepath.Join(tree, "proc/50")); err != nil {
		t.Fatal(err)
	}
	cgroupWantFailure(t, c, "process", "no process of name kuryr-daemon")

	cgroupProcess(t, tree, 51, 1100, "kuryr-daemon", "0::/b")
	if err := os.Remove(filepath.Join(tree, "proc/51/cgroup")); err != nil { // it ends meanwhile
		t.Fatal(err)
	}
	cgroupWantFailure(t, c, "process", "proc/51/cgroup: no such file")
	cgroupProcess(t, tree, 51, 1100, "kuryr-daemon", "0::/b")
	cgroupWant(t, c, 3000, "v2")
}

// What was found is looked for again after a failure: somebody has mounted it elsewhere.
func TestCgroupFollowsTheMount(t *testing.T) {
	tree := cgroupHost(t)
	c := cgroupOf(t, tree, "")
	cgroupWant(t, c, 1000, "v2")
	cgroupMounts(t, tree, "self", "/ TREE/other cgroup2 nsdelegate")
	cgroupFiles(t, tree, "other/own", "v2", 6000)
	cgroupWant(t, c, 1000, "v2")
	if err := os.RemoveAll(filepath.Join(tree, "cg")); err != nil {
		t.Fatal(err)
	}
	cgroupWantFailure(t, c, "missing", "cg/own: no such file")
	cgroupWant(t, c, 6000, "v2")
}

// The usage and the page cache are not read at the same moment.
func TestCgroupWorkingSetIsNotBelowZero(t *testing.T) {
	tree := cgroupHost(t)
	cgroupWrite(t, tree, "cg/own/memory.stat", "inactive_file 1001\n")
	samples, err := localCollect(t, cgroupOf(t, tree, ""))
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	if got, ok := localValue(samples, `vitals_cgroup_memory_working_set_bytes{cgroup="c"}`); !ok || got != 0 {
		t.Errorf("working set = %v (present %v) of 1000 bytes with 1001 of page cache, want 0", got, ok)
	}
}

// A process that was searched for is searched for again only when it is not the one
// any more: the others are not even looked at.
func TestCgroupSearchesOnce(t *testing.T) {
	tree := cgroupHost(t)
	cgroupProcess(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	c := cgroupOf(t, tree, "name: kuryr-daemon")
	cgroupWant(t, c, 2000, "v2")
	cgroupProcess(t, tree, 40, 100, "kuryr-daemon", "0::/b")
	cgroupWant(t, c, 2000, "v2")
}

// The mounts show the cgroup, and it is gone: that is known for as long as it is so, and
// the process has nothing to do with it.
func TestCgroupOfAProcessIsGone(t *testing.T) {
	tree := cgroupHost(t)
	cgroupProcess(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	c := cgroupOf(t, tree, "name: kuryr-daemon")
	cgroupWant(t, c, 2000, "v2")
	if err := os.RemoveAll(filepath.Join(tree, "cg/a")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cgroupWantFailure(t, c, "missing", "cg/a: no such file")
	}
	cgroupFiles(t, tree, "cg/a", "v2", 2000)
	cgroupWant(t, c, 2000, "v2")
}

// The cgroup of a process in another container is not in the own mounts, but in those
// of that process, see cgroup_namespaces(7).
func TestCgroupOfAnotherContainer(t *testing.T) {
	tests := []struct{ name, own, cgroups, theirs, dir, version, reason, text string }{
		{"v2, with cgroup namespaces", "/ TREE/cg cgroup2 x", "0::/../cri-containerd-7a.scope", "/../cri-containerd-7a.scope /sys/fs/cgroup cgroup2 x", "sys/fs/cgroup", "v2", "", ""},
		{"v2, systemd in the container", "/ TREE/cg cgroup2 x", "0::/../crio-7a.scope/system.slice/x", "/../crio-7a.scope /sys/fs/cgroup cgroup2 x", "sys/fs/cgroup/system.slice/x", "v2", "", ""},
		{"v1, without cgroup namespaces", "/pod/4f TREE/cg cgroup memory", "4:memory:/pod/7a", "/pod/7a /sys/fs/cgroup/memory cgroup memory", "sys/fs/cgroup/memory", "v1", "", ""},
		{"hybrid", "/pod/4f TREE/cg cgroup memory", "4:memory:/pod/7a\n0::/x", "/pod/7a /cg/memory cgroup memory\n/x /cg/unified cgroup2 x", "cg/memory", "hybrid", "", ""},
		{"mounted nowhere", "/ TREE/cg cgroup2 x", "0::/../7a", "/ /elsewhere ext4 x", "", "", "missing", "for the process: cgroup /../7a: version 2 is not mounted"},
		{"another part is mounted there", "/ TREE/cg cgroup2 x", "0::/../7a", "/../7b /sys/fs/cgroup cgroup2 x", "", "", "missing", "not in the part that is mounted at /sys/fs/cgroup, /../7b"},
		{"no mount table", "/ TREE/cg cgroup2 x", "0::/../7a", "", "", "", "process", "proc/42/mountinfo: no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := localDir(t)
			cgroupMounts(t, tree, "self", tt.own)
			cgroupProcess(t, tree, 42, 300, "kuryr-daemon", tt.cgroups)
			if tt.theirs != "" {
				cgroupMounts(t, tree, "42", strings.Split(tt.theirs, "\n")...)
			}
			cgroupFiles(t, tree, "sys/fs/cgroup", "v2", 4000) // not that of the process
			if tt.dir != "" {
				cgroupFiles(t, tree, filepath.Join("proc/42/root", tt.dir), tt.version, 5000)
			}
			c := cgroupOf(t, tree, "name: kuryr-daemon")
			if tt.reason != "" {
				cgroupWantFailure(t, c, tt.reason, tt.text)
				return
			}
			cgroupWant(t, c, 5000, tt.version)
			config := "{cgroupfs: " + tree + "/cg, process: {pid: 42, procfs: " + tree + "/proc}}"
			cgroupWantFailure(t, localNew(t, "c", config, &collectors.CgroupConfig{}), "missing", "is not in the part that is mounted at "+tree+"/cg")
		})
	}
}

// A container can make any link in its own file system. It leads nobody out of the
// mount, so that no file of the host is taken for a number.
func TestCgroupOfAnotherContainerThatLies(t *testing.T) {
	tree := localDir(t)
	cgroupMounts(t, tree, "self", "/ TREE/cg cgroup2 x")
	cgroupProcess(t, tree, 42, 300, "kuryr-daemon", "0::/../7a")
	cgroupMounts(t, tree, "42", "/../7a /sys/fs/cgroup cgroup2 x")
	cgroupWrite(t, tree, "proc/42/root/sys/fs/x", "")
	if err := os.Symlink("/proc/self", filepath.Join(tree, "proc/42/root/sys/fs/cgroup")); err != nil {
		t.Fatal(err)
	}
	cgroupWantFailure(t, cgroupOf(t, tree, "pid: 42"), "unreadable", "is no directory of the cgroups that are mounted at /sys/fs/cgroup")
}
