package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The fleet of BenchmarkTargets, and its budgets.
const (
	fleetTargets  = 1000
	fleetInterval = 10 * time.Second
	// maxFleetRatio is the CPU time of a check against that of a bare client's request.
	maxFleetRatio = 1.3
	// maxFleetFiles is what the process may have open: a socket for each check that runs, which
	// takes milliseconds, and what it has open without targets.
	maxFleetFiles = 60
)

// bareClient requests the paths /0 to /N-1 of a server, each once an interval, evenly spread and over
// new connections, until it is killed. Its arguments are the URL and N.
func bareClient() {
	url, n := os.Args[1], 0
	if _, err := fmt.Sscan(os.Args[2], &n); err != nil {
		panic(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(fleetInterval / time.Duration(n))
	for i := 0; ; i++ {
		<-ticker.C
		go func() {
			if err := bareRequest(client, fmt.Sprintf("%s/%d", url, i%n)); err != nil {
				panic(err)
			}
		}()
	}
}

// bareRequest makes a request and reads the answer.
func bareRequest(client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), fleetInterval/2)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "bare")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

// fleetServer counts the requests of the program and of the bare client.
type fleetServer struct {
	*httptest.Server
	program, bare atomic.Int64
}

func startFleetServer(b *testing.B) *fleetServer {
	b.Helper()
	s := &fleetServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() == "bare" {
			s.bare.Add(1)
		} else {
			s.program.Add(1)
		}
		_, _ = io.WriteString(w, `{"status": "ok"}`)
	}))
	b.Cleanup(s.Close)
	return s
}

// fleetSubject is a configuration with targets in a file, and a rule over them.
func fleetSubject(b *testing.B, url string) subject {
	b.Helper()
	dir := b.TempDir()
	var list strings.Builder
	list.WriteString("- targets:\n")
	for i := range fleetTargets {
		fmt.Fprintf(&list, "    - %s/%d\n", url, i)
	}
	put(b, dir, "targets.yml", list.String())
	put(b, dir, "rules.yml", `groups: [{name: fleet, rules: [{alert: TargetDown, expr: vitals_dependency_up == 0, labels: {state: ready}}]}]`)
	config := put(b, dir, "vitals.yml", fmt.Sprintf("rule_files: [rules.yml]\ncollectors:\n  - {name: web, interval: %s, http: {discovery: {files: [%s/targets.yml]}}}\n", fleetInterval, dir))
	return subject{args: []string{"--config.file=" + config}}
}

// BenchmarkTargets compares the CPU time of a check of 1,000 HTTP targets with that of the same
// requests by a bare client of net/http, both at the same time. The program's includes
// the evaluation of a rule over all targets, once a second. VITALS_BENCH_REST is how long to measure;
// 20 s where it is not set.
func BenchmarkTargets(b *testing.B) {
	rest := durationFrom(b, "VITALS_BENCH_REST", 2*fleetInterval)
	server := startFleetServer(b)
	bare := exec.Command("bare-client", server.URL, fmt.Sprint(fleetTargets))
	bare.Stderr = os.Stderr
	if err := bare.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = bare.Process.Kill()
		_ = bare.Wait() // it was killed
	})
	d := startDaemon(b, buildProgram(b), fleetSubject(b, server.URL))
	defer d.stop(b)
	pid := d.cmd.Process.Pid
	var rss, files []float64
	var ratio, each, bareEach, rate float64
	for b.Loop() {
		observe(b, fleetInterval+time.Second, func() {}) // the first checks came at once
		used, usedBare, begin := cpuTime(b, pid), cpuTime(b, bare.Process.Pid), time.Now()
		checks, requests := server.program.Load(), server.bare.Load()
		observe(b, rest, func() {
			rss = append(rss, memory(b, pid, "status", "VmRSS"))
			files = append(files, openFiles(b, pid))
		})
		used, usedBare = cpuTime(b, pid)-used, cpuTime(b, bare.Process.Pid)-usedBare
		checks, requests = server.program.Load()-checks, server.bare.Load()-requests
		each, bareEach = used.Seconds()/float64(checks), usedBare.Seconds()/float64(requests)
		ratio, rate = each/bareEach, float64(checks)/time.Since(begin).Seconds()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(each*1e6, "cpu-us/check")
	b.ReportMetric(bareEach*1e6, "bare-us/check")
	b.ReportMetric(ratio, "cpu-ratio")
	b.ReportMetric(rate, "checks/s")
	b.ReportMetric(slices.Max(rss)/(1<<20), "max-RSS-MiB")
	b.ReportMetric(slices.Max(files), "max-files")
	if want := fleetTargets / fleetInterval.Seconds(); rate < 0.95*want {
		b.Errorf("%.1f checks a second, want %.1f", rate, want)
	}
	if ratio > maxFleetRatio {
		b.Errorf("a check takes %.2f times the CPU time of a bare request, want at most %.1f", ratio, maxFleetRatio)
	}
	if most := slices.Max(files); most > maxFleetFiles {
		b.Errorf("%.0f open files, want at most %d", most, maxFleetFiles)
	}
	if up := d.metrics(b)[`vitals_discovery_targets{collector="web"}`]; up != fleetTargets {
		b.Errorf("vitals_discovery_targets = %v, want %d", up, fleetTargets)
	}
}
