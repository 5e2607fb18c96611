package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What the history may add to the controller's profile at rest.
const (
	// maxHistoryRSS is in bytes.
	maxHistoryRSS = 2 << 20
	// maxHistoryCPU is in percent of a core: 0.2 ms an evaluation.
	maxHistoryCPU = 0.02
	// historyPairs are processes with and without a history that run side by side: enough
	// for a median that the heap's size at the start changes little.
	historyPairs = 5
)

// historyLines returns, by file, what connects the evaluator with the history. Without them,
// no event is recorded and no compared value is read.
func historyLines() map[string]string {
	return map[string]string{
		"run.go":   "Observe: d.history.Observe, ",
		"serve.go": "explain.NewComparer(d.eval).Run(ctx, d.history.Compare)",
	}
}

// BenchmarkHistoryAtRest compares the program with the same one whose evaluator has no
// history. Pairs of both run at the same time with the controller's profile, so that both
// see the same machine. The metrics are medians of the differences in each pair.
// VITALS_BENCH_REST is how long to measure; 30 s where it is not set.
func BenchmarkHistoryAtRest(b *testing.B) {
	rest := durationFrom(b, "VITALS_BENCH_REST", 30*time.Second)
	paths := [2]string{buildProgram(b), buildWithoutHistory(b)}
	controller := shippedSubjects(b, paths[0])[0]
	var core, rss, anonymous []float64
	for b.Loop() {
		var daemons [2 * historyPairs]*daemonProcess
		for i := range daemons {
			daemons[i] = startDaemon(b, paths[i%2], controller)
		}
		found := atRest(b, daemons[:], rest)
		for i := 0; i < len(found); i += 2 {
			with, without := found[i], found[i+1]
			core = append(core, with.core-without.core)
			rss = append(rss, with.rss-without.rss)
			anonymous = append(anonymous, with.anonymous-without.anonymous)
		}
		for _, d := range daemons {
			d.mustMeasure(b, 15*time.Second)
			d.stop(b)
		}
	}
	b.Logf("%% of a core by pair: %.3f; RSS in MiB: %.2f", core, mebibytes(rss))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(core), "more-%core")
	b.ReportMetric(median(rss)/(1<<20), "more-RSS-MiB")
	b.ReportMetric(median(anonymous)/(1<<20), "more-anonymous-MiB")
	if more := median(rss); more > maxHistoryRSS {
		b.Errorf("the history takes %.1f MiB of RSS, want at most %d MiB", more/(1<<20), maxHistoryRSS>>20)
	}
	if more := median(core); more > maxHistoryCPU {
		b.Errorf("the history takes %.3f %% of a core, want at most %.2f %%", more, maxHistoryCPU)
	}
}

// usage is what a process takes: percents of a core, and medians of bytes.
type usage struct{ core, rss, anonymous float64 }

// atRest measures processes at the same time, while nothing happens.
func atRest(b *testing.B, daemons []*daemonProcess, rest time.Duration) []usage {
	b.Helper()
	// What the start left to do is over after the second collection of each collector.
	observe(b, 12*time.Second, func() {})
	used, begin := make([]time.Duration, len(daemons)), time.Now()
	for i, d := range daemons {
		used[i] = cpuTime(b, d.cmd.Process.Pid)
	}
	rss, anonymous := make([][]float64, len(daemons)), make([][]float64, len(daemons))
	observe(b, rest, func() {
		for i, d := range daemons {
			rss[i] = append(rss[i], memory(b, d.cmd.Process.Pid, "status", "VmRSS"))
			anonymous[i] = append(anonymous[i], memory(b, d.cmd.Process.Pid, "status", "RssAnon"))
		}
	})
	took, found := time.Since(begin), make([]usage, len(daemons))
	for i, d := range daemons {
		found[i] = usage{100 * float64(cpuTime(b, d.cmd.Process.Pid)-used[i]) / float64(took), median(rss[i]), median(anonymous[i])}
	}
	return found
}

// buildWithoutHistory builds the program without what records its history. An overlay
// replaces the source, so that the product has no such switch.
func buildWithoutHistory(b *testing.B) string {
	b.Helper()
	dir, replace := b.TempDir(), map[string]string{}
	for file, text := range historyLines() {
		path, err := filepath.Abs(file)
		if err != nil {
			b.Fatal(err)
		}
		source, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		if n := strings.Count(string(source), text); n != 1 {
			b.Fatalf("%s has %q %d times, want it once: it is what this benchmark leaves out", path, text, n)
		}
		instead := "" // a call, or an option
		if strings.HasSuffix(text, ")") {
			instead = "_ = explain.NewComparer"
		}
		replace[path] = put(b, dir, file, strings.Replace(string(source), text, instead, 1))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		b.Fatal(err)
	}
	return buildProgram(b, "-overlay="+put(b, dir, "overlay.json", string(overlay)))
}

// mebibytes returns bytes in MiB.
func mebibytes(bytes []float64) []float64 {
	found := make([]float64, len(bytes))
	for i := range bytes {
		found[i] = bytes[i] / (1 << 20)
	}
	return found
}
