package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// TestProbesAfterAStop stops the process for longer than a snapshot may be old. The first probes
// after SIGCONT, sent while it is stopped, get the verdict of a new generation.
func TestProbesAfterAStop(t *testing.T) {
	t.Parallel()
	_, config := markerConfig(t)
	p := runVitals(t, config)
	var wrong []string
	// Probes wait for a new generation for 200 ms, in which a busy machine may not evaluate.
	// The test of the same name in internal/server has the exact times.
	for range 5 {
		p.waitReady()
		if wrong = p.probesAfterAStop(); len(wrong) == 0 {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}

// probesAfterAStop stops and continues the process, and returns which probes failed.
func (p *runningVitals) probesAfterAStop() (wrong []string) {
	p.t.Helper()
	before := p.status().Generation
	p.signal(syscall.SIGSTOP)
	eventually(p.t, "every thread to stop", func() bool { return threadsStopped(p.t, p.cmd.Process.Pid) })
	stopped := time.Now()
	paths := []string{"/ready", "/alive", "/-/healthy"}
	answers := make(chan string)
	for _, path := range paths {
		go func() { answers <- p.newGeneration(path, before) }()
	}
	longEnough := evaluator.StalledAfter(0) + time.Second
	eventually(p.t, "the snapshot to be too old", func() bool { return time.Since(stopped) > longEnough })
	p.signal(syscall.SIGCONT)
	for range paths {
		if text := <-answers; text != "" {
			wrong = append(wrong, text)
		}
	}
	return wrong
}

// newGeneration sends a probe, and returns "" if it passes with a generation after before.
func (p *runningVitals) newGeneration(path string, before uint64) string {
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		return err.Error()
	}
	resp, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	generation, err := strconv.ParseUint(resp.Header.Get("X-Vitals-Generation"), 10, 64)
	if err != nil || resp.StatusCode != http.StatusOK || generation <= before {
		return fmt.Sprintf("%s right after SIGCONT = %d of generation %d (%v), want 200 of one after %d", path, resp.StatusCode, generation, err, before)
	}
	return ""
}

// TestCollectionAfterAStop stops the process during a collection, for longer than its timeout.
// After SIGCONT the collector still reports why it failed, within a tenth of the timeout.
func TestCollectionAfterAStop(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	config := write(t, t.TempDir(), "vitals.yml", "collectors: [{name: app, interval: 1h, timeout: 10s, http: {url: \"http://"+ln.Addr().String()+"/\"}}]\n")
	p := runVitals(t, config)
	conn, err := ln.Accept() // and no response
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p.signal(syscall.SIGSTOP)
	stopped := time.Now()
	eventually(t, "the timeout and that time to be over", func() bool { return time.Since(stopped) > 12*time.Second })
	p.signal(syscall.SIGCONT)
	eventually(t, "the reason of the failure", func() bool {
		_, metrics := p.get("/metrics")
		return strings.Contains(metrics, `vitals_dependency_failure{dependency="app",reason="timeout"} 1`)
	})
	if log := p.log.String(); strings.Contains(log, "no result within") {
		t.Errorf("the collector had no time to report its timeout:\n%s", log)
	}
}

// threadsStopped reports whether all threads of a process are stopped. On a busy machine that
// takes a moment, in which some still serve requests.
func threadsStopped(t testing.TB, pid int) bool {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("threads of %d: %q, %v", pid, files, err)
	}
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			return false // a thread that has ended
		}
		// proc_pid_stat(5): the state follows the name in parentheses.
		if _, rest, ok := strings.Cut(string(stat), ") "); !ok || rest[0] != 'T' {
			return false
		}
	}
	return true
}
