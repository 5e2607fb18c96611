package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// soakPace is the interval and the timeout of every collector in the soak: a hundred
// times as often as in the profile. Components report and beat as often.
const soakPace = 100 * time.Millisecond

// growth is what may not grow with time, and by how much it may because of noise,
// however long the soak is.
type growth struct {
	unit   string
	noise  float64
	values []float64
}

// BenchmarkSoak runs the whole profile kuryr-cni with all ways to report, each
// collector ten times a second, and fails when its goroutines, descriptors or memory
// grow. VITALS_BENCH_SOAK is how long; 30 s where it is not set.
func BenchmarkSoak(b *testing.B) {
	path, soak := buildProgram(b), durationFrom(b, "VITALS_BENCH_SOAK", 30*time.Second)
	dir := collectortest.Dir(b)
	config := startNode(b, path, func(name string, collector map[string]any) {
		collector["interval"], collector["timeout"] = soakPace.String(), soakPace.String()
		if name == "components" {
			components := collector["components"].(map[string]any)
			components["notify_directory"] = dir
			components["shared_booleans"] = map[string]any{"beat": map[string]any{"path": put(b, dir, "beat", "\x01"), "deadline": "5s"}}
		}
	})
	shortenRanges(b, filepath.Dir(config))
	s := subject{"kuryr-cni", 0, []string{"--config.file=" + config}, nil, filepath.Join(dir, "v.sock"), soakPace}
	d := startDaemon(b, path, s)
	defer d.stop(b)
	defer s.sendReports(b)()
	defer beat(b, dir)()
	for b.Loop() {
		d.soak(b, soak)
	}
}

// shortenRanges shortens ranges of rules to ten seconds, so that the history of the window
// is full, and stays as large as it is, before anything is measured.
func shortenRanges(b *testing.B, dir string) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "rules", "*.yml"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no rule files: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		put(b, filepath.Dir(path), filepath.Base(path), regexp.MustCompile(`\[\d+m\]`).ReplaceAllString(string(text), "[10s]"))
	}
}

// beat writes a shared boolean and sends datagrams until the returned function is called.
func beat(b *testing.B, dir string) (stop func()) {
	b.Helper()
	boolean, err := os.OpenFile(filepath.Join(dir, "beat"), os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.Dial("unixgram", filepath.Join(dir, "watcher.sock"))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(soakPace)
		defer ticker.Stop()
		for ctx.Err() == nil {
			if _, err := boolean.WriteAt([]byte{1}, 0); err != nil {
				b.Errorf("shared boolean: %v", err)
			}
			if _, err := conn.Write([]byte("READY=1\nWATCHDOG=1")); err != nil {
				b.Errorf("datagram: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
	return func() {
		cancel()
		<-done
		_ = conn.Close()
		_ = boolean.Close()
	}
}

// soak measures the process once a second, after a warm-up in which pools and the
// window's history fill.
func (d *daemonProcess) soak(b *testing.B, length time.Duration) {
	b.Helper()
	// The heap is counted by the size at which it is collected next: twice what lives,
	// whereas what is allocated goes up and down between two collections.
	goroutines, files := &growth{unit: "goroutines/min", noise: 3}, &growth{unit: "fds/min", noise: 3}
	heap, rss := &growth{unit: "heap-KiB/min", noise: 512}, &growth{unit: "RSS-KiB/min", noise: 2048}
	observe(b, 20*time.Second, func() {})
	used, begin := cpuTime(b, d.cmd.Process.Pid), time.Now()
	observe(b, length, func() {
		m := d.metrics(b)
		goroutines.values = append(goroutines.values, m["go_goroutines"])
		files.values = append(files.values, openFiles(b, d.cmd.Process.Pid))
		heap.values = append(heap.values, m["go_memstats_next_gc_bytes"]/2/1024)
		rss.values = append(rss.values, memory(b, d.cmd.Process.Pid, "status", "VmRSS")/1024)
	})
	core := 100 * float64(cpuTime(b, d.cmd.Process.Pid)-used) / float64(time.Since(begin))
	d.mustMeasure(b, 3*time.Second)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(core, "%core")
	for _, g := range []*growth{goroutines, files, heap, rss} {
		g.report(b, length)
	}
}

// report compares the medians of the first and of the last third.
func (g *growth) report(b *testing.B, length time.Duration) {
	b.Helper()
	third := len(g.values) / 3
	if third == 0 {
		b.Fatalf("%d values within %s, want at least 3", len(g.values), length)
	}
	first, last := median(slices.Clone(g.values[:third])), median(slices.Clone(g.values[len(g.values)-third:]))
	b.Logf("%s: from %.0f to %.0f", g.unit, first, last)
	b.ReportMetric((last-first)/(length.Minutes()*2/3), g.unit)
	if last-first > g.noise {
		b.Errorf("%s: grew from %.0f to %.0f within %s, want at most %.0f more", g.unit, first, last, length, g.noise)
	}
}

// openFiles counts the descriptors of a process.
func openFiles(b *testing.B, pid int) float64 {
	b.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		b.Fatal(err)
	}
	return float64(len(names))
}
