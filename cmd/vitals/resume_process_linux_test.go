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
	p.waitReady()
	before := p.status().Generation
	p.signal(syscall.SIGSTOP)
	eventually(t, "every thread to stop", func() bool { return threadsStopped(t, p.cmd.Process.Pid) })
	stopped := time.Now()
	type answer struct {
		path       string
		code       int
		generation uint64
		err        error
	}
	answers := make(chan answer)
	paths := []string{"/ready", "/alive", "/-/healthy"}
	for _, path := range paths {
		go func() {
			a := answer{path: path}
			defer func() { answers <- a }()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, http.NoBody)
			if err != nil {
				a.err = err
				return
			}
			resp, err := new(http.Transport).RoundTrip(req)
			if err != nil {
				a.err = err
				return
			}
			defer resp.Body.Close()
			a.code = resp.StatusCode
			a.generation, a.err = strconv.ParseUint(resp.Header.Get("X-Vitals-Generation"), 10, 64)
		}()
	}
	longEnough := evaluator.StalledAfter(0) + time.Second
	eventually(t, "the snapshot to be too old", func() bool { return time.Since(stopped) > longEnough })
	p.signal(syscall.SIGCONT)
	for range paths {
		if a := <-answers; a.err != nil || a.code != http.StatusOK || a.generation <= before {
			t.Errorf("%s right after SIGCONT = %d of generation %d (%v), want 200 of one after %d", a.path, a.code, a.generation, a.err, before)
		}
	}
}

// TestCollectionAfterAStop stops the process during a collection, for longer than its timeout.
// After SIGCONT the collector still reports why it failed.
func TestCollectionAfterAStop(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	config := write(t, t.TempDir(), "vitals.yml", "collectors: [{name: app, interval: 1h, timeout: 2s, http: {url: \"http://"+ln.Addr().String()+"/\"}}]\n")
	p := runVitals(t, config)
	conn, err := ln.Accept() // and no response
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p.signal(syscall.SIGSTOP)
	stopped := time.Now()
	eventually(t, "the timeout to be over", func() bool { return time.Since(stopped) > 3*time.Second })
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
func threadsStopped(t *testing.T, pid int) bool {
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
