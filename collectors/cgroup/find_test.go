package cgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// files writes the files that a cgroup of a version has.
func files(t testing.TB, tree, dir, version string, usage int) {
	t.Helper()
	files := map[string]string{
		"memory.usage_in_bytes": "USAGE\n",
		"memory.stat":           "inactive_file 1\nhierarchical_memory_limit 1000000\ntotal_inactive_file 100\n",
		"memory.oom_control":    "oom_kill 0\n",
	}
	if version == "v2" {
		files = map[string]string{
			"cgroup.type": "domain\n", "memory.current": "USAGE\n", "memory.max": "1000000\n",
			"memory.stat": "inactive_file 100\n", "memory.events": "oom_kill 0\n",
		}
	}
	for name, text := range files {
		write(t, tree, filepath.Join(dir, name), strings.ReplaceAll(text, "USAGE", fmt.Sprint(usage)))
	}
}

// mounts writes the mount table of a process. Each mount is given as its root, its
// mount point below the tree, its type and its options.
func mounts(t testing.TB, tree, process string, mounts ...string) {
	t.Helper()
	table := "22 1 0:20 / / rw,relatime - ext4 /dev/sda1 rw\n23 22 0:21 / /proc rw shared:5 - proc proc rw\n"
	for i, m := range mounts {
		f := strings.Fields(m)
		table += fmt.Sprintf("%d 22 DEVICE %s %s rw,nosuid,relatime shared:%d master:1 - %s none rw,%s\n", 30+i, f[0], f[1], i, f[2], f[3])
	}
	write(t, tree, filepath.Join("proc", process, "mountinfo"), table)
}

// What the mount table and /proc/self/cgroup look like on hosts and in containers, and
// where the cgroup is then.
func TestIsFound(t *testing.T) {
	const pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod6c8d.slice"
	tests := []struct {
		name, cgroups, mount string
		// dir is the directory below the tree, of a cgroup of this version.
		dir, version string
	}{
		{"v1, service of systemd", "4:memory:/system.slice/kuryr-cni.service", "/ TREE/cg/memory cgroup memory", "cg/memory/system.slice/kuryr-cni.service", "v1"},
		{"v1, the root cgroup", "4:memory:/", "/ TREE/cg/memory cgroup memory", "cg/memory", "v1"},
		{"v1, controllers together", "4:cpu,memory:/a", "/ TREE/cg/cpu,memory cgroup cpu,memory", "cg/cpu,memory/a", "v1"},
		{"v1, docker without a cgroup namespace", "4:memory:/docker/4f1e", "/docker/4f1e TREE/cg/memory cgroup memory", "cg/memory", "v1"},
		{"v1, docker with a cgroup namespace", "4:memory:/", "/ TREE/cg/memory cgroup memory", "cg/memory", "v1"},
		{"v1, systemd in docker", "4:memory:/docker/4f1e/init.scope", "/docker/4f1e TREE/cg/memory cgroup memory", "cg/memory/init.scope", "v1"},
		{"v1, podman on the host", "4:memory:/machine.slice/libpod-4f1e.scope", "/ TREE/cg/memory cgroup memory", "cg/memory/machine.slice/libpod-4f1e.scope", "v1"},
		{"v1, containerd", "4:memory:/kubepods/burstable/pod6c8d/4f1e", "/kubepods/burstable/pod6c8d/4f1e TREE/cg/memory cgroup memory", "cg/memory", "v1"},
		{"v1, containerd by systemd, with colons", "4:memory:/system.slice/containerd.service/kubepods-pod6c8d.slice:cri-containerd:4f1e", "/ TREE/cg/memory cgroup memory",
			"cg/memory/system.slice/containerd.service/kubepods-pod6c8d.slice:cri-containerd:4f1e", "v1"},
		{"v1, cri-o", "4:memory:" + pod + "/crio-4f1e.scope", pod + "/crio-4f1e.scope TREE/cg/memory cgroup memory", "cg/memory", "v1"},
		{"v1, seen out of a cgroup namespace", "4:memory:/../../b", "/../.. TREE/cg/memory cgroup memory", "cg/memory/b", "v1"},
		{"v1, a blank and a tab in names", "4:memory:/a b", "/ TREE/c\\040g\\011 cgroup memory", "c g\t/a b", "v1"},
		{"hybrid, the memory on v1", "4:memory:/user.slice\n0::/user.slice/session-3.scope", "/ TREE/cg/unified cgroup2 nsdelegate\n/ TREE/cg/memory cgroup memory", "cg/memory/user.slice", "hybrid"},
		{"v2, beside v1 without memory", "3:cpu:/a\n0::/b", "/ TREE/cg/cpu cgroup cpu\n/ TREE/cg/unified cgroup2 nsdelegate", "cg/unified/b", "v2"},
		{"v2, service of systemd", "0::/system.slice/kuryr-cni.service", "/ TREE/cg cgroup2 nsdelegate", "cg/system.slice/kuryr-cni.service", "v2"},
		{"v2, docker in the host's cgroup namespace", "0::/system.slice/docker-4f1e.scope", "/ TREE/cg cgroup2 nsdelegate", "cg/system.slice/docker-4f1e.scope", "v2"},
		{"v2, docker with a cgroup namespace", "0::/", "/ TREE/cg cgroup2 nsdelegate", "cg", "v2"},
		{"v2, rootless podman", "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-4f1e.scope/container", "/ TREE/cg cgroup2 nsdelegate",
			"cg/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-4f1e.scope/container", "v2"},
		{"v2, cri-o", "0::" + pod + "/crio-4f1e.scope/container", pod + "/crio-4f1e.scope TREE/cg cgroup2 nsdelegate", "cg/container", "v2"},
		{"v2, containerd", "0::" + pod + "/cri-containerd-4f1e.scope", "/ TREE/cg cgroup2 nsdelegate", "cg" + pod + "/cri-containerd-4f1e.scope", "v2"},
		{"v2, kubelet itself", "0::/system.slice/kubelet.service", "/ TREE/cg cgroup2 nsdelegate", "cg/system.slice/kubelet.service", "v2"},
		{"v2, a part of the tree and all of it", "0::/a/b", "/a TREE/part cgroup2 nsdelegate\n/ TREE/all cgroup2 nsdelegate", "all/a/b", "v2"},
		{"v2, a mount that is hidden by another", "0::/a", "/ TREE/cg cgroup2 nsdelegate\n/a TREE/cg cgroup2 nsdelegate", "cg", "v2"},
		{"v2, all of the tree without the cgroup, and a part of it", "0::/a/b", "/ TREE/all cgroup2 nsdelegate\n/a TREE/part cgroup2 nsdelegate", "part/b", "v2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := collectortest.Dir(t)
			write(t, tree, "proc/self/cgroup", "7:pids:/elsewhere\n"+tt.cgroups+"\n")
			mounts(t, tree, "self", strings.Split(tt.mount, "\n")...)
			files(t, tree, "part/b", "v2", 4000) // shows less than the whole tree would
			if tt.dir == "cg" {
				files(t, tree, "cg/a", "v2", 4000) // another one, where a hidden mount would have it
			}
			files(t, tree, tt.dir, tt.version, 5000)
			c := collectortest.New(t, "c", "process: {procfs: "+tree+"/proc}", &cgroup.Config{})
			want(t, c, 5000, tt.version)
		})
	}
}

// want collects and compares the usage and the version.
func want(t testing.TB, c collectors.Collector, usage float64, version string) {
	t.Helper()
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	name := collectortest.Sample(samples[0])
	if got, ok := collectortest.Value(samples, `vitals_cgroup_memory_usage_bytes{cgroup="c"}`); !ok || got != usage {
		t.Errorf("vitals_cgroup_memory_usage_bytes = %v (present %v) beside %s, want %v", got, ok, name, usage)
	}
	if _, ok := collectortest.Value(samples, `vitals_cgroup_info{cgroup="c",version="`+version+`"}`); !ok {
		t.Errorf("Collect() = %v, want version %s", samples, version)
	}
}

// wantFailure collects and compares the reason and a part of the error.
func wantFailure(t testing.TB, c collectors.Collector, reason, text string) []collectors.Sample {
	t.Helper()
	samples, err := collectortest.Collect(t, c)
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("Collect() = %v, want an error with %q", err, text)
	}
	for _, r := range []string{"missing", "forbidden", "no_memory_controller", "process", "unreadable"} {
		want := 0.0
		if r == reason {
			want = 1
		}
		if got, ok := collectortest.Value(samples, `vitals_cgroup_failure{cgroup="c",reason="`+r+`"}`); !ok || got != want {
			t.Errorf("vitals_cgroup_failure of %s = %v (present %v) after %v, want %v", r, got, ok, err, want)
		}
	}
	return samples
}

func TestIsNotFound(t *testing.T) {
	const v1, v2 = "/ TREE/cg/memory cgroup memory", "/ TREE/cg cgroup2 nsdelegate"
	tests := []struct{ name, cgroups, mount, reason, text string }{
		{"v1, its directory is not there", "4:memory:/gone\n", v1, "missing", "cg/memory/gone: no such file"},
		{"v2, its directory is not there", "0::/gone\n", v2, "missing", "cg/gone: no such file"},
		{"removed while the process is in it", "0::/a (deleted)\n", v2, "missing", "cgroup /a (deleted) was removed"},
		{"v1 not mounted", "4:memory:/a\n", "/ TREE/cg/cpu cgroup cpu", "missing", "the memory hierarchy of version 1 is not mounted: expected it at a directory such as /sys/fs/cgroup/memory"},
		{"v2 not mounted", "0::/a\n", v1, "missing", "version 2 is not mounted: expected it at a directory such as /sys/fs/cgroup"},
		{"outside of the part that is mounted", "0::/b\n", "/a TREE/cg cgroup2 nsdelegate", "missing", "cgroup /b is not in the part that is mounted at"},
		{"a name that begins alike", "0::/ab\n", "/a TREE/cg cgroup2 nsdelegate", "missing", "cgroup /ab is not in the part"},
		{"own cgroup namespace, the host's mount", "0::/\n", "/../.. TREE/cg cgroup2 nsdelegate", "missing", "cgroup / is not in the part"},
		{"outside of the cgroup namespace", "0::/../b\n", v2, "missing", "cgroup /../b is not in the part"},
		{"a path that climbs", "0::/a/../../b\n", v2, "missing", "cgroup /a/../../b is not in the part"},
		{"a link that leads out", "0::/link\n", v2, "unreadable", "cg/link is not a directory of the cgroups mounted at"},
		{"a file instead of a directory", "0::/file\n", v2, "unreadable", "cg/file is not a directory of the cgroups"},
		{"no memory controller in the kernel", "3:cpu:/a\n1:name=systemd:/a\n", v1, "no_memory_controller", "the kernel has no memory controller: see cgroup_disable"},
		{"empty", "", v1, "no_memory_controller", "the kernel has no memory controller"},
		{"garbage in the cgroups of the process", "memory\n", v1, "unreadable", `"memory\n" is invalid`},
		{"a path that is not absolute", "4:memory:a\n", v1, "unreadable", `"4:memory:a\n" is invalid`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := collectortest.Dir(t)
			write(t, tree, "proc/self/cgroup", tt.cgroups)
			mounts(t, tree, "self", tt.mount)
			write(t, tree, "cg/memory/tasks", "")
			write(t, tree, "cg/file", "")
			if err := os.Symlink("/proc/self", filepath.Join(tree, "cg/link")); err != nil {
				t.Fatal(err)
			}
			c := collectortest.New(t, "c", "{limit: 5MiB, process: {procfs: "+tree+"/proc}}", &cgroup.Config{})
			for range 2 {
				samples := wantFailure(t, c, tt.reason, tt.text)
				if limit, ok := collectortest.Value(samples, `vitals_memory_limit_bytes{cgroup="c"}`); limit != 5<<20 || !ok || len(samples) != 6 {
					t.Errorf("Collect() = %v, want nothing but the configured limit of 5 MiB and the failure", samples)
				}
			}
		})
	}
}

func TestByPath(t *testing.T) {
	tests := []struct {
		name, config, mount string
		usage               float64
		version             string
		reason, text        string
	}{
		{"v2", "path: TREE/cg/a", "/ TREE/cg cgroup2 x", 5000, "v2", "", ""},
		{"v2, with a slash at the end", "path: TREE/cg/a/", "/ TREE/cg cgroup2 x", 5000, "v2", "", ""},
		{"v2, by a link of the administrator's", "path: TREE/link", "/ TREE/cg cgroup2 x", 5000, "v2", "", ""},
		{"v2, as /proc/PID/cgroup has it", "path: /a", "/ TREE/cg cgroup2 x", 5000, "v2", "", ""},
		{"v2, the other mount of it", "path: TREE/other", "/ TREE/cg cgroup2 x\n/ TREE/other cgroup2 x", 6000, "v2", "", ""},
		{"v2, as /proc/PID/cgroup has it, below cgroupfs", "{path: /b, cgroupfs: TREE/other/}", "/ TREE/cg cgroup2 x\n/ TREE/other cgroup2 x", 7000, "v2", "", ""},
		{"v1", "path: TREE/memory/a", "/ TREE/cpu cgroup cpu\n/ TREE/memory cgroup memory", 8000, "v1", "", ""},
		{"v1, as /proc/PID/cgroup has it", "path: /a", "/ TREE/cpu cgroup cpu\n/ TREE/memory cgroup memory", 8000, "v1", "", ""},
		{"hybrid", "path: TREE/memory/a", "/ TREE/memory cgroup memory\n/ TREE/cg cgroup2 x", 8000, "hybrid", "", ""},
		{"hybrid, in v2", "path: TREE/cg/a", "/ TREE/memory cgroup memory\n/ TREE/cg cgroup2 x", 0, "", "no_memory_controller", "expected a directory below TREE/memory"},
		{"v1, of another controller", "path: TREE/cpu/a", "/ TREE/cpu cgroup cpu\n/ TREE/memory cgroup memory", 0, "", "no_memory_controller", "cpu/a is in a hierarchy without the memory controller"},
		{"missing", "path: TREE/cg/gone", "/ TREE/cg cgroup2 x", 0, "", "missing", "cg/gone: no such file"},
		{"missing, as /proc/PID/cgroup has it", "path: /gone", "/ TREE/cg cgroup2 x", 0, "", "missing", "cg/gone: no such file"},
		{"elsewhere", "path: TREE/elsewhere", "/ TREE/cg cgroup2 x", 0, "", "missing", "path TREE/elsewhere is not below a mount of cgroups"},
		{"a link that leads elsewhere", "path: TREE/cg/out", "/ TREE/cg cgroup2 x", 0, "", "missing", "path TREE/cg/out is not below a mount of cgroups"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := collectortest.Dir(t)
			mounts(t, tree, "self", strings.Split(tt.mount, "\n")...)
			files(t, tree, "cg/a", "v2", 5000)
			files(t, tree, "other", "v2", 6000)
			files(t, tree, "other/b", "v2", 7000)
			files(t, tree, "memory/a", "v1", 8000)
			write(t, tree, "cpu/a/tasks", "")
			write(t, tree, "elsewhere/memory.current", "1\n")
			for link, to := range map[string]string{"link": "cg/a", "cg/out": "elsewhere"} {
				if err := os.Symlink(filepath.Join(tree, to), filepath.Join(tree, link)); err != nil {
					t.Fatal(err)
				}
			}
			c := collectortest.New(t, "c", strings.ReplaceAll("{process: {procfs: TREE/proc}, "+strings.Trim(tt.config, "{}")+"}", "TREE", tree), &cgroup.Config{})
			if tt.reason != "" {
				wantFailure(t, c, tt.reason, strings.ReplaceAll(tt.text, "TREE", tree))
				return
			}
			want(t, c, tt.usage, tt.version)
		})
	}
}
