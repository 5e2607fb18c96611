package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// observe calls f every second for a while.
func observe(b *testing.B, d time.Duration, f func()) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d+time.Second/2)
	defer cancel()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
			f()
		}
	}
}

// metrics are the lines of /metrics: values by series.
func (d *daemonProcess) metrics(b *testing.B) map[string]float64 {
	b.Helper()
	resp, err := http.Get(d.url + "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || line[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64); err == nil {
			found[line[:i]] = value
		}
	}
	return found
}

// memory reads a line of /proc/PID/FILE, in bytes; see proc(5).
func memory(b *testing.B, pid int, file, key string) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib * 1024
		}
	}
	b.Fatalf("/proc/%d/%s has no %s", pid, file, key)
	return 0
}

// cpuTime is the processor time of all threads, to the nanosecond: the ticks of
// /proc/PID/stat are 10 ms long, and a budget of 0.2 % is 2 ms a second.
func cpuTime(b *testing.B, pid int) (used time.Duration) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		b.Fatalf("no schedstat of process %d: %v", pid, err)
	}
	for _, path := range threads {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		first, _, _ := strings.Cut(string(data), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		used += time.Duration(ns)
	}
	return used
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median returns the middle of values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
