package cgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// tree writes a file tree of testdata below a new directory, which it returns. In
// its files TREE is that directory and DEVICE the number of its file system as a mount
// table has it.
func tree(t testing.TB, name string) string {
	t.Helper()
	dir := collectortest.Dir(t)
	treeIn(t, dir, name)
	return dir
}

func treeIn(t testing.TB, dir, name string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		write(t, dir, f.Name, string(f.Data))
	}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	collectortest.Write(t, path, strings.NewReplacer("TREE", dir, "DEVICE", device(t, dir)).Replace(text))
}

// device is the file system of a directory as major:minor.
func device(t testing.TB, dir string) string {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Stat(dir, &stat); err != nil {
		t.Fatal(err)
	}
	dev := uint64(stat.Dev)
	return fmt.Sprintf("%d:%d", dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff)
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"the own cgroup", "{}", ""},
		{"all that may be together", "{process: {name: kuryr-daemon}, limit: 512MiB, cgroupfs: /host/sys/fs/cgroup}", ""},
		{"path", "path: /sys/fs/cgroup/system.slice", ""},
		{"path and process", "{path: /sys/fs/cgroup/x, process: {pid: 1}}", "process: process and path: expected one of them, or procfs alone"},
		{"path and procfs", "{path: /sys/fs/cgroup/x, process: {procfs: /host/proc}}", ""},
		{"relative path", "path: system.slice", `path: path "system.slice": expected an absolute path without ..`},
		{"path that climbs", "path: /sys/fs/cgroup/../x", `path: path "/sys/fs/cgroup/../x": expected an absolute path without ..`},
		{"relative cgroupfs", "cgroupfs: sys", `cgroupfs: path "sys": expected an absolute path without ..`},
		{"no limit at all", "limit: 0", "limit: limit 0B: expected 1MiB or more, with a unit such as MiB, or no limit"},
		{"a limit without its unit", "limit: 512", "limit: limit 512B: expected 1MiB or more, with a unit such as MiB, or no limit"},
		{"process by two keys", "process: {pid: 1, name: x}", "process: pid, name: expected at most one of pid, pid_file, name, exe, argument, cgroup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &cgroup.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsLocal(t *testing.T) {
	c := &cgroup.Config{}
	if c.External() || c.Uses() != nil {
		t.Errorf("External(), Uses() = %v, %v, want false, nil", c.External(), c.Uses())
	}
}

func TestExposition(t *testing.T) {
	for _, version := range []string{"v1", "v2", "hybrid"} {
		t.Run(version, func(t *testing.T) {
			dir := tree(t, version)
			c := collectortest.New(t, "memory", "{limit: 512MiB, process: {procfs: "+dir+"/proc}}", &cgroup.Config{})
			for range 2 {
				samples, err := collectortest.Collect(t, c)
				if err != nil {
					t.Fatalf("Collect() = %v, want no error", err)
				}
				collectortest.Golden(t, ""+version+".prom", collectortest.Exposition(samples, c.Describe()))
			}
		})
	}
}

// What a rule compares is exact: the limit is not exceeded by itself, and by half a
// mebibyte or a byte it is.
func TestComparesWithTheLimit(t *testing.T) {
	const mebibyte = 1 << 20
	tests := []struct {
		name         string
		limit        string
		usage, memsw int
		over         bool
	}{
		{"5,120 MiB of 4,096", "4096MiB", 5120 * mebibyte, 5120 * mebibyte, true},
		{"the limit", "4096MiB", 4096 * mebibyte, 4096 * mebibyte, false},
		{"the limit and half a mebibyte", "4096MiB", 4096*mebibyte + mebibyte/2, 4096*mebibyte + mebibyte/2, true},
		{"the limit and a byte", "4096MiB", 4096*mebibyte + 1, 4096*mebibyte + 1, true},
		{"the limit with what is in swap", "500MiB", 400 * mebibyte, 500 * mebibyte, false},
		{"the limit with what is in swap, and a byte", "500MiB", 400 * mebibyte, 500*mebibyte + 1, true},
		{"memory came in between the two files", "500MiB", 400 * mebibyte, 300 * mebibyte, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := tree(t, "v1")
			for name, value := range map[string]int{"usage_in_bytes": tt.usage, "memsw.usage_in_bytes": tt.memsw} {
				write(t, tree, filepath.Join(dir("v1"), "memory."+name), fmt.Sprintf("%d\n", value))
			}
			samples, err := collectortest.Collect(t, collectortest.New(t, "c", "{limit: "+tt.limit+", process: {procfs: "+tree+"/proc}}", &cgroup.Config{}))
			if err != nil {
				t.Fatalf("Collect() = %v, want no error", err)
			}
			usage, _ := collectortest.Value(samples, `vitals_cgroup_memory_usage_bytes{cgroup="c"}`)
			swap, _ := collectortest.Value(samples, `vitals_cgroup_memory_swap_bytes{cgroup="c"}`)
			limit, _ := collectortest.Value(samples, `vitals_memory_limit_bytes{cgroup="c"}`)
			if usage != float64(tt.usage) || swap < 0 || (usage+swap > limit) != tt.over {
				t.Errorf("usage %v + swap %v > limit %v is %v, want %v", usage, swap, limit, usage+swap > limit, tt.over)
			}
		})
	}
}
