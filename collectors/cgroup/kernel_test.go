package cgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// The own cgroup on the kernel that the test runs on, of whatever version: either its
// memory is known, or the failure has the reason.
func TestOfThisProcess(t *testing.T) {
	c := collectortest.New(t, "c", "{}", &cgroup.Config{})
	samples, err := collectortest.Collect(t, c)
	var reasons []string
	for _, r := range []string{"missing", "forbidden", "no_memory_controller", "process", "unreadable"} {
		if v, ok := collectortest.Value(samples, `vitals_cgroup_failure{cgroup="c",reason="`+r+`"}`); !ok {
			t.Errorf("vitals_cgroup_failure of %s is absent, want it 0 or 1", r)
		} else if v == 1 {
			reasons = append(reasons, r)
		}
	}
	usage, measured := collectortest.Value(samples, `vitals_cgroup_memory_usage_bytes{cgroup="c"}`)
	if err != nil {
		// Where a test may run without its cgroup in sight: in the root cgroup of version 2,
		// without a mount of cgroups, without the controller.
		if got := strings.Join(reasons, " "); got != "no_memory_controller" && got != "missing" || measured {
			t.Errorf("Collect() = %v with the reasons %v and a usage (%v), want missing or no_memory_controller alone", err, reasons, measured)
		}
		return
	}
	set, _ := collectortest.Value(samples, `vitals_cgroup_memory_working_set_bytes{cgroup="c"}`)
	limit, limited := collectortest.Value(samples, `vitals_cgroup_memory_limit_bytes{cgroup="c"}`)
	if reasons != nil || usage <= 0 || set <= 0 || set > usage || !limited || limit <= 0 {
		t.Errorf("usage %v, working set %v, limit %v (present %v), reasons %v, want 0 < working set <= usage, a limit and no reason", usage, set, limit, limited, reasons)
	}
}

// fileNames are the files that a collection on version 2 reads, below the tree.
func fileNames() []string {
	dir := dir("v2")
	return []string{
		"proc/400/comm", "proc/400/stat", "proc/400/cgroup", dir + "/memory.current", dir + "/memory.stat", dir + "/memory.max", filepath.Dir(dir) + "/memory.max",
		filepath.Dir(filepath.Dir(dir)) + "/memory.max", dir + "/memory.swap.current", dir + "/memory.events", dir + "/memory.pressure",
	}
}

// BenchmarkCollector is the cost of a collection for a process that is found by its name, on a
// host with 300: alone, against reading the same files with os.ReadFile and making
// nothing of them, and against one that looks for the cgroup each time. They take turns.
func BenchmarkCollector(b *testing.B) {
	tree := tree(b, "v2")
	cgroups := collectortest.Read(b, filepath.Join(tree, "proc/self/cgroup"))
	for pid := range 300 {
		process(b, tree, 100+pid, pid, fmt.Sprintf("other-%d", pid), "0::/")
	}
	process(b, tree, 400, 300, "kuryr-daemon", strings.TrimSpace(cgroups))
	var kind cgroup.Config
	kept := collectortest.New(b, "c", "process: {name: kuryr-daemon, procfs: "+tree+"/proc}", &kind)
	read := func() {
		for _, name := range fileNames() {
			if _, err := os.ReadFile(filepath.Join(tree, name)); err != nil {
				b.Fatal(err)
			}
		}
	}
	collect := func(c collectors.Collector) {
		if _, err := c.Collect(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	var keeping, reading, searching time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		collect(kept)
		keeping += time.Since(start)
		b.StopTimer()
		start = time.Now()
		read()
		reading += time.Since(start)
		fresh, err := kind.New(collectors.Env{Name: "c"})
		if err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		collect(fresh)
		searching += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(keeping.Seconds()/reading.Seconds(), "kept/readfile")
	b.ReportMetric(keeping.Seconds()/searching.Seconds(), "kept/searched")
}
