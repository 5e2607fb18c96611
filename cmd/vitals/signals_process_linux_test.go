package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStopDuringReload stops a process whose reload hangs: its rule file has become a pipe,
// and the writer sends nothing. Neither the reload nor any number of SIGHUPs delays the end.
func TestStopDuringReload(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--web.shutdown-delay=0s", "--config.poll-interval=0s")
	p.waitReady()
	rules := filepath.Join(dir, "rules.yml")
	if err := os.Remove(rules); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(rules, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(rules, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for range 6 {
		p.signal(syscall.SIGHUP)
	}
	eventually(t, "the reload to read the pipe", func() bool { return p.opened(rules) })
	for range 6 {
		p.signal(syscall.SIGHUP)
	}
	if code, body := p.get("/ready"); code != 200 {
		t.Errorf("/ready during the reload = %d %q, want 200", code, body)
	}
	begin := time.Now()
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
	if took, most := time.Since(begin), stopTimeout+10*time.Second; took > most {
		t.Errorf("the process ended after %s, want at most %s", took, most)
	}
	if !strings.Contains(p.log.String(), "task=reload") {
		t.Errorf("the log is %q, want it to name the reload that did not stop", p.log)
	}
}

// TestReloadThatEndsAfterTheStop has a reload read the rest of a valid file after SIGTERM: nothing
// is logged about the file.
func TestReloadThatEndsAfterTheStop(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--web.shutdown-delay=0s", "--config.poll-interval=0s")
	p.waitReady()
	rules := filepath.Join(dir, "rules.yml")
	if err := errors.Join(os.Remove(rules), syscall.Mkfifo(rules, 0o600)); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(rules, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	eventually(t, "the reload to read the pipe", func() bool { return p.opened(rules) })
	p.signal(syscall.SIGTERM)
	eventually(t, "the evaluator to end", func() bool {
		var out, errs strings.Builder
		return run([]string{"silence", "Dead", "--socket=" + p.socket}, &out, &errs) != exitOK
	})
	if _, err := writer.WriteString(markerRules); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	p.exit()
	if log := p.log.String(); strings.Contains(log, "configuration is") || !strings.Contains(log, "shutting down") {
		t.Errorf("the log is %s, want a shutdown and nothing about the configuration", log)
	}
}

// opened reports whether the process has a file open.
func (p *runningVitals) opened(path string) bool {
	p.t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == path {
			return true
		}
	}
	return false
}
