package cgroup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// dir is the directory of the cgroup in each of the trees.
func dir(version string) string {
	return map[string]string{
		"v1":     "sys/fs/cgroup/memory/system.slice/kuryr-cni.service",
		"v2":     "sys/fs/cgroup/kubepods.slice/kubepods-pod6c8d.slice/crio-4f1e.scope",
		"hybrid": "sys/fs/cgroup/memory/user.slice",
	}[version]
}

// metrics are the names of what was measured, without the prefix, the limit of the
// configuration and the failure.
func metrics(samples []collectors.Sample) string {
	var names []string
	for _, s := range samples {
		name, measured := strings.CutPrefix(s.Labels.Get(model.MetricNameLabel), "vitals_cgroup_memory_")
		if measured && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// Each fault takes away what it must and nothing else, and ends without a trace.
func TestFaults(t *testing.T) {
	const (
		allV1  = "usage_bytes working_set_bytes swap_bytes limit_bytes oom_kills_total"
		allV2  = allV1 + " pressure_ratio pressure_seconds_total"
		remove = "REMOVE"
	)
	tests := []struct {
		name, version string
		// files become these texts; REMOVE removes them.
		files map[string]string
		// left is what is measured still.
		left, reason, text string
	}{
		{"v1, no accounting for swap", "v1", map[string]string{"memory.memsw.usage_in_bytes": remove}, "usage_bytes working_set_bytes limit_bytes oom_kills_total", "", ""},
		{"v1, no OOM control", "v1", map[string]string{"memory.oom_control": remove}, "usage_bytes working_set_bytes swap_bytes limit_bytes", "", ""},
		{"v1, before OOM kills were counted", "v1", map[string]string{"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n"}, "usage_bytes working_set_bytes swap_bytes limit_bytes", "", ""},
		{"v1, no usage", "v1", map[string]string{"memory.usage_in_bytes": remove}, "", "no_memory_controller", "memory.usage_in_bytes: no such file"},
		{"v1, empty usage", "v1", map[string]string{"memory.usage_in_bytes": ""}, "", "unreadable", `memory.usage_in_bytes: "" is not a number of bytes`},
		{"v1, negative usage", "v1", map[string]string{"memory.usage_in_bytes": "-1\n"}, "", "unreadable", `"-1" is not a number of bytes`},
		{"v1, garbage for swap", "v1", map[string]string{"memory.memsw.usage_in_bytes": "x"}, "usage_bytes working_set_bytes limit_bytes oom_kills_total", "unreadable", `memory.memsw.usage_in_bytes: "x" is not a number`},
		{"v1, no statistics", "v1", map[string]string{"memory.stat": remove}, "usage_bytes swap_bytes oom_kills_total", "missing", "memory.stat: no such file"},
		{"v1, garbage for the page cache", "v1", map[string]string{"memory.stat": "total_inactive_file a\nhierarchical_memory_limit 4096\n"}, "usage_bytes swap_bytes limit_bytes oom_kills_total", "unreadable", `memory.stat: total_inactive_file: "a" is not a number`},
		{"v1, page cache missing", "v1", map[string]string{"memory.stat": "hierarchical_memory_limit 4096\n"}, "usage_bytes swap_bytes limit_bytes oom_kills_total", "unreadable", "memory.stat: total_inactive_file: no such line"},
		{"v1, garbage for the limit", "v1", map[string]string{"memory.stat": "total_inactive_file 1\nhierarchical_memory_limit max\n"}, "usage_bytes working_set_bytes swap_bytes oom_kills_total", "unreadable", `memory.stat: hierarchical_memory_limit: "max" is not a number`},
		{"v1, limit in its own file only", "v1", map[string]string{"memory.stat": "total_inactive_file 1\n"}, allV1, "", ""},
		{"v1, limit nowhere", "v1", map[string]string{"memory.stat": "total_inactive_file 1\n", "memory.limit_in_bytes": remove}, "usage_bytes working_set_bytes swap_bytes oom_kills_total", "missing", "memory.limit_in_bytes: no such file"},
		{"v1, garbage for OOM kills", "v1", map[string]string{"memory.oom_control": "oom_kill many\n"}, "usage_bytes working_set_bytes swap_bytes limit_bytes", "unreadable", `memory.oom_control: oom_kill: "many" is not a number`},
		{"v1, the cgroup removed", "v1", map[string]string{"": remove}, "", "missing", "kuryr-cni.service: no such file"},
		{"v2, no accounting for swap", "v2", map[string]string{"memory.swap.current": remove}, strings.Replace(allV2, "swap_bytes ", "", 1), "", ""},
		{"v2, no pressure", "v2", map[string]string{"memory.pressure": remove}, allV1, "", ""},
		{"v2, no events", "v2", map[string]string{"memory.events": remove}, strings.Replace(allV2, "oom_kills_total ", "", 1), "", ""},
		{"v2, garbage for pressure", "v2", map[string]string{"memory.pressure": "some avg10=1.00\n"}, allV1, "unreadable", "expected avg60= and a number"},
		{"v2, pressure empty", "v2", map[string]string{"memory.pressure": ""}, allV1, "unreadable", "neither some nor full"},
		{"v2, controller not enabled", "v2", map[string]string{"memory.current": remove}, "", "no_memory_controller", "expected memory in cgroup.subtree_control of the cgroup above"},
		{"v2, the root cgroup", "v2", map[string]string{"memory.current": remove, "cgroup.type": remove}, "", "no_memory_controller", "the root cgroup does not account for its memory"},
		{"v2, the cgroup removed", "v2", map[string]string{"": remove}, "", "missing", "crio-4f1e.scope: no such file"},
		{"v2, the cgroup above removed", "v2", map[string]string{"..": remove}, "", "missing", "crio-4f1e.scope: no such file"},
		{"v2, garbage for the limit", "v2", map[string]string{"memory.max": "none\n"}, strings.Replace(allV2, "limit_bytes ", "", 1), "unreadable", `memory.max: "none" is not a number`},
		{"v2, garbage for the limit above", "v2", map[string]string{"../memory.max": "\x00\xff"}, strings.Replace(allV2, "limit_bytes ", "", 1), "unreadable", `kubepods-pod6c8d.slice/memory.max: "\x00\xff" is not a number`},
		{"v2, no statistics", "v2", map[string]string{"memory.stat": remove}, strings.Replace(allV2, "working_set_bytes ", "", 1), "missing", "memory.stat: no such file"},
		{"v2, statistics beyond all bounds", "v2", map[string]string{"memory.stat": strings.Repeat("inactive_file 1\n", 1<<20)}, strings.Replace(allV2, "working_set_bytes ", "", 1), "unreadable", "memory.stat has 65536 bytes or more"},
		{"v2, all faults at once", "v2", map[string]string{"memory.stat": "x", "memory.max": "x", "memory.swap.current": "x", "memory.events": "oom_kill x", "memory.pressure": "x"}, "usage_bytes", "unreadable", "memory.stat: inactive_file: no such line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := tree(t, tt.version)
			c := collectortest.New(t, "c", "{limit: 512MiB, process: {procfs: "+tree+"/proc}}", &cgroup.Config{})
			all := map[string]string{"v1": allV1, "v2": allV2}[tt.version]
			wantMetrics(t, c, all, "", "")
			for name, text := range tt.files {
				path := filepath.Join(tree, dir(tt.version), name)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if text != remove {
					collectortest.Write(t, path, text)
				}
			}
			for range 2 {
				wantMetrics(t, c, tt.left, tt.reason, tt.text)
			}
			treeIn(t, tree, tt.version)
			if tt.reason == "missing" || tt.reason == "no_memory_controller" {
				wantMetrics(t, c, all, "", "")
			}
		})
	}
}

// wantMetrics collects and compares which metrics are there, and the failure.
func wantMetrics(t *testing.T, c collectors.Collector, want, reason, text string) {
	t.Helper()
	var samples []collectors.Sample
	if reason != "" {
		samples = wantFailure(t, c, reason, text)
	} else {
		var err error
		if samples, err = collectortest.Collect(t, c); err != nil {
			t.Errorf("Collect() = %v, want no error", err)
		}
	}
	if got := metrics(samples); got != want {
		t.Errorf("Collect() measures %q, want %q", got, want)
	}
	if limit, _ := collectortest.Value(samples, `vitals_memory_limit_bytes{cgroup="c"}`); limit != 512<<20 {
		t.Errorf("vitals_memory_limit_bytes = %v, want 512 MiB in any case", limit)
	}
}

// The file with the usage is something else: nothing hangs, and nothing is believed.
func TestFileOfAnotherKind(t *testing.T) {
	tests := []struct {
		name string
		make func(path string) error
		text string
	}{
		{"fifo without a writer", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "is not a number of bytes"},
		{"directory", func(p string) error { return os.Mkdir(p, 0o755) }, "is a directory"},
		{"symbolic link", func(p string) error { return os.Symlink("memory.max", p) }, "too many levels of symbolic links"},
		{"socket", func(p string) error {
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer syscall.Close(fd)
			return syscall.Bind(fd, &syscall.SockaddrUnix{Name: p})
		}, "no such device or address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := host(t)
			path := filepath.Join(tree, "cg/own/memory.current")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			wantFailure(t, of(t, tree, ""), "unreadable", tt.text)
		})
	}
}

// withoutRights calls f with the rights of a user who owns nothing, on a thread
// that ends with it.
func withoutRights(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		const other = 65534
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(other); err != nil {
				done <- err
				return
			}
		}
		f()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestForbidden(t *testing.T) {
	tests := []struct{ name, path, left, text string }{
		{"the usage", "cg/own/memory.current", "", "memory.current: permission denied"},
		{"the statistics", "cg/own/memory.stat", "usage_bytes limit_bytes oom_kills_total", "memory.stat: permission denied"},
		{"the limit", "cg/own/memory.max", "usage_bytes working_set_bytes oom_kills_total", "memory.max: permission denied"},
		{"the cgroup", "cg", "", "permission denied"},
		{"the mount table", "proc/self/mountinfo", "", "mountinfo: permission denied"},
		{"the cgroups of the process", "proc/self/cgroup", "", "proc/self/cgroup: permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := host(t)
			err := filepath.WalkDir(tree, func(path string, _ fs.DirEntry, _ error) error { return os.Chmod(path, 0o755) })
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(tree, tt.path)
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(path, 0o755)
			c := of(t, tree, "")
			withoutRights(t, func() {
				samples := wantFailure(t, c, "forbidden", tt.text)
				if got := metrics(samples); got != tt.left {
					t.Errorf("Collect() measures %q, want %q", got, tt.left)
				}
			})
		})
	}
}

// The root directory of a process of another container is open to its own user and to
// who may trace it.
func TestOfAnotherContainerForbidden(t *testing.T) {
	tree := collectortest.Dir(t)
	mounts(t, tree, "self", "/ TREE/cg cgroup2 x")
	process(t, tree, 42, 300, "kuryr-daemon", "0::/../7a")
	mounts(t, tree, "42", "/../7a /sys/fs/cgroup cgroup2 x")
	files(t, tree, "proc/42/root/sys/fs/cgroup", "v2", 5000)
	if err := filepath.WalkDir(tree, func(path string, _ fs.DirEntry, _ error) error { return os.Chmod(path, 0o755) }); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(tree, "proc/42/root")
	if err := os.Chmod(root, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(root, 0o755)
	c := of(t, tree, "pid: 42")
	withoutRights(t, func() {
		wantFailure(t, c, "forbidden", "proc/42/root/sys/fs/cgroup: permission denied")
	})
}
