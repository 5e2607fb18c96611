package script_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/script"
	"github.com/vitals-health/vitals/internal/reaper"
)

// newWithEnv makes the collector of a shell command with this environment.
func newWithEnv(t testing.TB, command string, env collectors.Env) collectors.Collector {
	t.Helper()
	config := &script.Config{}
	collectortest.Decode(t, fmt.Sprintf("{command: [/bin/sh, -c, %s]}", strconv.Quote(command)), config)
	env.Name = "s"
	c, err := config.New(env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// adopts makes this process a subreaper until the test ends.
func adopts(t testing.TB) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

// The process of a script is guarded from its start until it is reaped.
func TestGuardsItsProcess(t *testing.T) {
	var pid, released int
	c := newWithEnv(t, "exit 5", collectors.Env{Start: func(start func() (*os.Process, error)) (*os.Process, func(), error) {
		p, err := start()
		if err != nil {
			return nil, nil, err
		}
		pid = p.Pid
		return p, func() {
			if err := unix.Kill(pid, 0); err == nil {
				t.Errorf("process %d is released before it is reaped", pid)
			}
			released++
		}, nil
	}})
	if got, want := outcome(t, c, collectortest.Patience), "critical, exit 5: exit code 5"; got != want {
		t.Errorf("Collect() exports %q, want %q", got, want)
	}
	if pid == 0 || released != 1 {
		t.Errorf("process %d is started, and released %d times, want one that is released once", pid, released)
	}
}

// Daemons that scripts leave behind end all the time, and are reaped within a few milliseconds.
// No exit code of a script is lost to that.
func TestKeepsItsExitCode(t *testing.T) {
	adopts(t)
	r := reaper.New(reaper.Options{Pause: time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	defer func() { cancel(); <-done }()
	const runs = 500
	for i := range runs {
		command := fmt.Sprintf("setsid sleep 0.0%d >/dev/null 2>&1 & exit %d", i%10, 1+i%100)
		got := outcome(t, newWithEnv(t, command, collectors.Env{Start: r.Start}), collectortest.Patience)
		if want := fmt.Sprintf("critical, exit %d: exit code %d", 1+i%100, 1+i%100); got != want {
			t.Fatalf("run %d: Collect() exports %q, want %q", i, got, want)
		}
	}
	collectortest.Wait(t, "no child is left", func() bool { return len(children(t)) == 0 })
}
