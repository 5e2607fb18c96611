package cgroup_test

import (
	"cmp"
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// A container with a cgroup namespace and with the host's mount sees of the container
// next to it a path that climbs out of the namespace, and of the mount's root one that
// climbs further. The names between them are unknown.
func TestOfTheContainerBeside(t *testing.T) {
	const procs = "1\n142\n42\n"
	tests := []struct{ name, mount, cgroup, dir, procs, version, text string }{
		{"v2, in the same pod", "/../../.. TREE/cg cgroup2 x", "0::/../7a", "kubepods/pod6c/7a", procs, "v2", ""},
		{"v2, in another pod", "/../../.. TREE/cg cgroup2 x", "0::/../../pod8e/7a", "kubepods/pod8e/7a", procs, "v2", ""},
		{"v2, below the container", "/../../.. TREE/cg cgroup2 x", "0::/../7a/init.scope", "kubepods/pod6c/7a/init.scope", procs, "v2", ""},
		{"v1", "/../../.. TREE/cg cgroup memory", "4:memory:/../7a", "kubepods/pod6c/7a", procs, "v1", ""},
		{"without the process in it", "/../../.. TREE/cg cgroup2 x", "0::/../7a", "kubepods/pod6c/7a", "1\n142\n", "", "cgroup /../7a is not in the part"},
		{"with another name", "/../../.. TREE/cg cgroup2 x", "0::/../7a", "kubepods/pod6c/7b", procs, "", "cgroup /../7a is not in the part"},
		{"on another level", "/../../.. TREE/cg cgroup2 x", "0::/../7a", "kubepods/7a", procs, "", "cgroup /../7a is not in the part"},
		{"above the mount", "/.. TREE/cg cgroup2 x", "0::/../../7a", "7a", procs, "", "cgroup /../../7a is not in the part"},
		{"a mount with a name", "/../x TREE/cg cgroup2 x", "0::/../7a", "7a", procs, "", "cgroup /../7a is not in the part"},
		{"a path that climbs on", "/../../.. TREE/cg cgroup2 x", "0::/../7a/../7b", "kubepods/pod6c/7b", procs, "", "cgroup /../7a/../7b is not in the part"},
		{"of another hierarchy", "/../../.. TREE/cg cgroup cpu", "0::/../7a", "kubepods/pod6c/7a", procs, "", "version 2 is not mounted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := collectortest.Dir(t)
			mounts(t, tree, "self", tt.mount)
			process(t, tree, 42, 300, "kuryr-daemon", tt.cgroup)
			mounts(t, tree, "42")
			for _, other := range []string{"kubepods/pod0/7a", "system.slice/a/7a", "kubepods/pod6c/00", "a/b/c/d/7a"} {
				files(t, tree, filepath.Join("cg", other), "v2", 4000)
				write(t, tree, filepath.Join("cg", other, "cgroup.procs"), "142\n")
			}
			files(t, tree, filepath.Join("cg", tt.dir), cmp.Or(tt.version, "v2"), 5000)
			write(t, tree, filepath.Join("cg", tt.dir, "cgroup.procs"), tt.procs)
			c := of(t, tree, "name: kuryr-daemon")
			if tt.text != "" {
				wantFailure(t, c, "missing", tt.text)
				return
			}
			want(t, c, 5000, tt.version)
		})
	}
}

// The limits of the pod and of all above it hold, and are seen.
func TestBesideHasTheLimitsAbove(t *testing.T) {
	tree := collectortest.Dir(t)
	mounts(t, tree, "self", "/../../.. TREE/cg cgroup2 x")
	process(t, tree, 42, 300, "kuryr-daemon", "0::/../7a")
	files(t, tree, "cg/kubepods/pod6c/7a", "v2", 5000)
	write(t, tree, "cg/kubepods/pod6c/7a/cgroup.procs", "42\n")
	write(t, tree, "cg/kubepods/pod6c/memory.max", "max\n")
	write(t, tree, "cg/kubepods/memory.max", "7000\n")
	samples, err := collectortest.Collect(t, of(t, tree, "pid: 42"))
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	if got, ok := collectortest.Value(samples, `vitals_cgroup_memory_limit_bytes{cgroup="c"}`); !ok || got != 7000 {
		t.Errorf("limit = %v (present %v), want the 7000 of the cgroup above the pod", got, ok)
	}
}
