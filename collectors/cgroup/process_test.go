package cgroup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

// process writes a process that started at a time, in ticks after the boot, and is
// in a cgroup.
func process(t testing.TB, tree string, pid, start int, name, cgroups string) {
	t.Helper()
	proctest.Process{PID: pid, Comm: name, Start: start, Cgroup: cgroups + "\n"}.Write(t, filepath.Join(tree, "proc"))
}

// host is a tree with the own process, a mount of version 2 and three cgroups.
func host(t testing.TB) string {
	t.Helper()
	tree := collectortest.Dir(t)
	write(t, tree, "proc/self/cgroup", "0::/own\n")
	mounts(t, tree, "self", "/ TREE/cg cgroup2 nsdelegate")
	process(t, tree, 1, 0, "init", "0::/")
	for dir, usage := range map[string]int{"own": 1000, "a": 2000, "b": 3000} {
		files(t, tree, "cg/"+dir, "v2", usage)
	}
	return tree
}

func TestOfAProcess(t *testing.T) {
	tree := host(t)
	process(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	process(t, tree, 42, 300, "kuryr-daemon", "0::/b")
	write(t, tree, "daemon.pid", "41\n")
	write(t, tree, "none.pid", "none\n")
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
			c := of(t, tree, tt.process)
			if tt.reason != "" {
				wantFailure(t, c, tt.reason, tt.text)
				return
			}
			want(t, c, tt.usage, "v2")
		})
	}
}

// of makes a collector for the cgroup of a process of the tree.
func of(t testing.TB, tree, process string) collectors.Collector {
	t.Helper()
	config := "process: {procfs: " + tree + "/proc}"
	if process != "" {
		config = "process: {" + strings.ReplaceAll(process, "TREE", tree) + ", procfs: " + tree + "/proc}"
	}
	return collectortest.New(t, "c", config, &cgroup.Config{})
}

// What is found once is kept while it is right: the process that was searched for, its
// cgroup, the mounts.
func TestFollowsTheProcess(t *testing.T) {
	tree := host(t)
	process(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	c := of(t, tree, "name: kuryr-daemon")
	want(t, c, 2000, "v2")

	mounts(t, tree, "self", "/ TREE/cg cgroup2 nsdelegate", "/a TREE/unused cgroup2 nsdelegate")
	files(t, tree, "cg/a", "v2", 2500)
	want(t, c, 2500, "v2")

	process(t, tree, 41, 900, "kuryr-daemon", "0::/b") // it was moved
	want(t, c, 3000, "v2")

	process(t, tree, 41, 900, "bash", "0::/own") // it runs something else
	wantFailure(t, c, "process", "no process of name kuryr-daemon")

	process(t, tree, 50, 1000, "kuryr-daemon", "0::/a")
	want(t, c, 2500, "v2")

	proctest.Process{PID: 50, Comm: "kuryr-daemon", State: "Z", Start: 1000, Cgroup: "0::/a\n"}.Write(t, filepath.Join(tree, "proc"))
	wantFailure(t, c, "process", "it has ended and is a zombie")

	if err := os.RemoveAll(filepath.Join(tree, "proc/50")); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, c, "process", "no process of name kuryr-daemon")

	process(t, tree, 51, 1100, "kuryr-daemon", "0::/b")
	if err := os.Remove(filepath.Join(tree, "proc/51/cgroup")); err != nil { // it ends meanwhile
		t.Fatal(err)
	}
	wantFailure(t, c, "process", "proc/51/cgroup: no such file")
	process(t, tree, 51, 1100, "kuryr-daemon", "0::/b")
	want(t, c, 3000, "v2")
}

// What was found is looked for again after a failure: it can be mounted elsewhere now.
func TestFollowsTheMount(t *testing.T) {
	tree := host(t)
	c := of(t, tree, "")
	want(t, c, 1000, "v2")
	mounts(t, tree, "self", "/ TREE/other cgroup2 nsdelegate")
	files(t, tree, "other/own", "v2", 6000)
	want(t, c, 1000, "v2")
	if err := os.RemoveAll(filepath.Join(tree, "cg")); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, c, "missing", "cg/own: no such file")
	want(t, c, 6000, "v2")
}

// The usage and the page cache are not read at the same moment.
func TestWorkingSetIsNotBelowZero(t *testing.T) {
	tree := host(t)
	write(t, tree, "cg/own/memory.stat", "inactive_file 1001\n")
	samples, err := collectortest.Collect(t, of(t, tree, ""))
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	if got, ok := collectortest.Value(samples, `vitals_cgroup_memory_working_set_bytes{cgroup="c"}`); !ok || got != 0 {
		t.Errorf("working set = %v (present %v) of 1000 bytes with 1001 of page cache, want 0", got, ok)
	}
}

// A process that was searched for is searched for again only when it is not the one
// any more: the others are not even looked at.
func TestSearchesOnce(t *testing.T) {
	tree := host(t)
	process(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	c := of(t, tree, "name: kuryr-daemon")
	want(t, c, 2000, "v2")
	process(t, tree, 40, 100, "kuryr-daemon", "0::/b")
	want(t, c, 2000, "v2")
}

// The mounts show the cgroup, and it is gone: that is known for as long as it is so, and
// the process has nothing to do with it.
func TestOfAProcessIsGone(t *testing.T) {
	tree := host(t)
	process(t, tree, 41, 900, "kuryr-daemon", "0::/a")
	c := of(t, tree, "name: kuryr-daemon")
	want(t, c, 2000, "v2")
	if err := os.RemoveAll(filepath.Join(tree, "cg/a")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wantFailure(t, c, "missing", "cg/a: no such file")
	}
	files(t, tree, "cg/a", "v2", 2000)
	want(t, c, 2000, "v2")
}

// The cgroup of a process in another container is not in the own mounts, but in those
// of that process, see cgroup_namespaces(7).
func TestOfAnotherContainer(t *testing.T) {
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
			tree := collectortest.Dir(t)
			mounts(t, tree, "self", tt.own)
			process(t, tree, 42, 300, "kuryr-daemon", tt.cgroups)
			if tt.theirs != "" {
				mounts(t, tree, "42", strings.Split(tt.theirs, "\n")...)
			}
			files(t, tree, "sys/fs/cgroup", "v2", 4000) // not that of the process
			if tt.dir != "" {
				files(t, tree, filepath.Join("proc/42/root", tt.dir), tt.version, 5000)
			}
			c := of(t, tree, "name: kuryr-daemon")
			if tt.reason != "" {
				wantFailure(t, c, tt.reason, tt.text)
				return
			}
			want(t, c, 5000, tt.version)
			config := "{cgroupfs: " + tree + "/cg, process: {pid: 42, procfs: " + tree + "/proc}}"
			wantFailure(t, collectortest.New(t, "c", config, &cgroup.Config{}), "missing", "is not in the part that is mounted at "+tree+"/cg")
		})
	}
}

// A container can make any link in its own file system. It does not lead out of the
// mount, so that no file of the host is taken for a number.
func TestOfAnotherContainerThatLies(t *testing.T) {
	tree := collectortest.Dir(t)
	mounts(t, tree, "self", "/ TREE/cg cgroup2 x")
	process(t, tree, 42, 300, "kuryr-daemon", "0::/../7a")
	mounts(t, tree, "42", "/../7a /sys/fs/cgroup cgroup2 x")
	write(t, tree, "proc/42/root/sys/fs/x", "")
	if err := os.Symlink("/proc/self", filepath.Join(tree, "proc/42/root/sys/fs/cgroup")); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, of(t, tree, "pid: 42"), "unreadable", "is not a directory of the cgroups mounted at /sys/fs/cgroup")
}
