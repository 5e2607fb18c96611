package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/internal/config"

	"golang.org/x/sys/unix"
)

// adoptingMain is the program as a subreaper, which orphans become children of as they do
// of the first process of a container.
func adoptingMain() {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	main()
}

// Collectors start children through the reaper, which does not reap those.
func TestCollectorsHoldTheirChildren(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vitals.yml")
	if err := os.WriteFile(file, []byte("collectors: [{name: hook, script: {command: [/bin/true]}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, errs := config.LoadFile(file)
	if errs != nil {
		t.Fatal(errs)
	}
	d, err := (&program{}).newDaemon(l, discard())
	if err != nil || d.reloader.Builder.Start == nil {
		t.Fatalf("newDaemon() = %v, and a builder without start, want one with it", err)
	}
	started, released := 0, 0
	b := &config.Builder{Logger: discard(), Start: func(start func() (*os.Process, error)) (*os.Process, func(), error) {
		started++
		p, release, err := d.reloader.Builder.Start(start)
		return p, func() { released++; release() }, err
	}}
	cfg, _, err := b.Build(l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Sources[0].Collector.Collect(t.Context()); err != nil || started != 1 || released != 1 {
		t.Errorf("Collect() = %v with %d starts and %d releases, want one of each", err, started, released)
	}
}

// A process that a script started in a new session is re-parented to the program. It
// is let go while it runs, and waited for when it has ended.
func TestRunWaitsForOrphans(t *testing.T) {
	dir := t.TempDir()
	pidFile, gate := filepath.Join(dir, "pid"), filepath.Join(dir, "gate")
	daemon := fmt.Sprintf("echo $$ >%[1]s.new; mv %[1]s.new %[1]s; until [ -e %[2]s ]; do sleep 0.02; done", pidFile, gate)
	hook := filepath.Join(dir, "hook")
	text := fmt.Sprintf("#!/bin/sh\n[ -e %[1]s ] && exit 3\nsetsid sh -c '%[2]s' >/dev/null 2>&1 &\nuntil [ -e %[1]s ]; do sleep 0.02; done\nexit 3\n", pidFile, daemon)
	config := filepath.Join(dir, "vitals.yml")
	if err := errors.Join(os.WriteFile(hook, []byte(text), 0o700),
		os.WriteFile(config, []byte("collectors: [{name: hook, interval: 10s, timeout: 10s, script: {command: ["+hook+"]}}]\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := launchProgram(t, "vitals-that-adopts", nil, "run", "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket=", "--web.shutdown-delay=0s")
	var pid int
	eventually(t, "the daemon of the script becomes a child of the program", func() bool {
		p.running()
		text, _ := os.ReadFile(pidFile)
		_, _ = fmt.Sscan(string(text), &pid)
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return pid != 0 && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", p.cmd.Process.Pid))
	})
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the daemon ends, and the program waits for it", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if <-p.done; p.code != 0 {
		t.Errorf("the program ends with %d, want 0", p.code)
	}
}
