package process

import (
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// BenchmarkSearch is the processor time that a search through all processes of
// this host takes, a process, and as a part of what reading the stat of each costs.
func BenchmarkSearch(b *testing.B) {
	for name, s := range map[string]Selector{
		"name": {Name: "no such process"}, "exe": {Exe: "/no/such/program"}, "cgroup": {Cgroup: "/no/such/cgroup"},
	} {
		b.Run(name, func(b *testing.B) {
			var ours, all time.Duration
			processes := 0
			search := func() {
				if _, err := s.find(b.Context()); ReasonOf(err) != Gone && ReasonOf(err) != forbidden {
					b.Fatal(err)
				}
			}
			allocs := testing.AllocsPerRun(1, search)
			for b.Loop() {
				before := collectortest.CPU(b)
				search()
				between := collectortest.CPU(b)
				procs, err := procfs.AllProcs()
				if err != nil {
					b.Fatal(err)
				}
				for _, p := range procs {
					_, _ = p.Stat()
				}
				processes += len(procs)
				ours += between - before
				all += collectortest.CPU(b) - between
			}
			b.ReportMetric(allocs*float64(b.N)/float64(processes), "allocs/process")
			b.ReportMetric(float64(ours.Microseconds())/float64(processes), "cpu-us/process")
			b.ReportMetric(float64(ours)/float64(all), "of-procfs-stat")
		})
	}
}
