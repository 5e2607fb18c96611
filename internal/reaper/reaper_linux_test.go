package reaper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds the waiting for an expected state.
const patience = 10 * time.Second

// adopt makes this process a subreaper until the test ends: orphans become its children.
func adopt(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

// run runs the reaper until the test ends.
func run(t *testing.T, r *Reaper) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// orphan starts a daemon that ends soon, and returns its PID.
func orphan(t *testing.T) int {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", "setsid sh -c 'echo $$; exec sleep 0.01' &").Output()
	pid, numberErr := strconv.Atoi(strings.TrimSpace(string(out)))
	if err := errors.Join(err, numberErr); err != nil {
		t.Fatal(err)
	}
	return pid
}

// start starts a child that ends with a code.
func start(code int) (*os.Process, error) {
	return os.StartProcess("/bin/sh", []string{"sh", "-c", fmt.Sprintf("exit %d", code)}, &os.ProcAttr{})
}

// zombie waits until a child has ended.
func zombie(t *testing.T, pid int) {
	t.Helper()
	await(t, fmt.Sprintf("process %d is a zombie", pid), func() bool { return hasEnded(unix.P_PID, pid) })
}

// gone waits until a child was reaped.
func gone(t *testing.T, pid int) {
	t.Helper()
	await(t, fmt.Sprintf("process %d is reaped", pid), func() bool { return unix.Kill(pid, 0) != nil })
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	end := time.After(patience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("timeout after %s: %s", patience, what)
		}
	}
}

// wantCode waits for a child and checks its exit code.
func wantCode(t *testing.T, pid, code int) {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != code {
		t.Errorf("Wait4(%d) = %d, %v, want exit code %d", pid, status.ExitStatus(), err, code)
	}
}

// wantKept checks often, and verifies that a child is a zombie and whether check returns it.
func wantKept(t *testing.T, r *Reaper, pid int, again bool) {
	t.Helper()
	var seen map[int]ended
	for range 3 * minChecks {
		var err error
		if seen, err = r.check(seen); err != nil {
			t.Fatal(err)
		}
	}
	if _, got := seen[pid]; got != again || !hasEnded(unix.P_PID, pid) {
		t.Errorf("check() returns process %d: %t, a zombie: %t, want %t, true", pid, got, hasEnded(unix.P_PID, pid), again)
	}
}

// Orphans are reaped when they end, before the sweep after 30 s. So are those that ended
// before Run.
func TestRunReapsOrphans(t *testing.T) {
	adopt(t)
	early := orphan(t)
	zombie(t, early)
	run(t, New(Options{}))
	gone(t, early)
	for range 2 { // the second time after a check without ended children
		var pids []int
		for range 10 {
			pids = append(pids, orphan(t))
		}
		for _, pid := range pids {
			gone(t, pid)
		}
	}
}

// A child that is released without having been waited for sends no further signal.
func TestRunSweeps(t *testing.T) {
	adopt(t)
	r := New(Options{Pause: time.Millisecond})
	run(t, r)
	p, release, err := r.Start(func() (*os.Process, error) { return start(1) })
	if err != nil {
		t.Fatal(err)
	}
	zombie(t, p.Pid)
	release()
	gone(t, p.Pid)
}

// Run returns if orphans are not re-parented to this process.
func TestRunReturnsWithoutOrphans(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	New(Options{}).Run(ctx)
	if ctx.Err() != nil {
		t.Error("Run() blocks in a process that is not a subreaper, want it to return at once")
	}
}

// An error of listing the children is logged once, and they are reaped later.
func TestRunCannotList(t *testing.T) {
	tests := []struct{ name, self, want string }{
		{"nothing is mounted", "", "no such file or directory"},
		{"no process is shown", strconv.Itoa(os.Getpid()), "no process in it: expected proc(5)"},
		{"the processes of another PID namespace", "4194305", "its self is 4194305 instead of"}, // more than PID_MAX_LIMIT
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			adopt(t)
			child, err := start(0)
			if err != nil {
				t.Fatal(err)
			}
			zombie(t, child.Pid)
			var log bytes.Buffer
			r := New(Options{Pause: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			r.proc = t.TempDir()
			self := filepath.Join(r.proc, "self")
			if tt.self != "" {
				err = os.Symlink(tt.self, self)
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				r.Run(ctx)
			}()
			<-time.After(5 * sweep * time.Millisecond)
			_ = os.Remove(self)
			if err := errors.Join(os.Mkdir(filepath.Join(r.proc, strconv.Itoa(child.Pid)), 0o700), os.Symlink(strconv.Itoa(os.Getpid()), self)); err != nil {
				t.Fatal(err)
			}
			gone(t, child.Pid)
			cancel()
			<-done
			if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, tt.want) {
				t.Errorf("the log is %q, want one line with %q", got, tt.want)
			}
		})
	}
}

// A child that was not started by Start is reaped after minChecks checks.
func TestCheckReaps(t *testing.T) {
	child, err := start(0)
	if err != nil {
		t.Fatal(err)
	}
	zombie(t, child.Pid)
	r := New(Options{})
	var seen map[int]ended
	for i := range minChecks {
		if !hasEnded(unix.P_PID, child.Pid) {
			t.Fatalf("process %d is reaped by check %d, want %d", child.Pid, i, minChecks)
		}
		seen, _ = r.check(seen)
	}
	if hasEnded(unix.P_PID, child.Pid) || len(seen) != 0 {
		t.Errorf("process %d is a zombie after %d checks, and %v is left, want it reaped", child.Pid, minChecks, seen)
	}
}

// A child that is held is not reaped.
func TestCheckKeepsHeldChildren(t *testing.T) {
	r := New(Options{})
	p, release, err := r.Start(func() (*os.Process, error) { return start(7) })
	if err != nil {
		t.Fatal(err)
	}
	zombie(t, p.Pid)
	wantKept(t, r, p.Pid, false)
	wantCode(t, p.Pid, 7)
	release()
	if len(r.held) != 0 || len(r.begun) != 0 {
		t.Errorf("held %v and begun %v after release, want none", r.held, r.begun)
	}
}

// A PID that the kernel has reused for another child is held until both are released.
func TestStartHoldsAReusedPID(t *testing.T) {
	r := New(Options{})
	child, err := start(3)
	if err != nil {
		t.Fatal(err)
	}
	again := func() (*os.Process, error) { return child, nil }
	_, first, _ := r.Start(again)
	_, second, _ := r.Start(again)
	first()
	zombie(t, child.Pid)
	wantKept(t, r, child.Pid, false)
	wantCode(t, child.Pid, 3)
	second()
}

// A child that has ended during a Start is not reaped, because it may be the started one.
func TestCheckKeepsStartingChildren(t *testing.T) {
	r := New(Options{})
	p, release, err := r.Start(func() (*os.Process, error) {
		p, err := start(9)
		if err == nil {
			zombie(t, p.Pid)
			wantKept(t, r, p.Pid, true)
		}
		return p, err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantKept(t, r, p.Pid, false)
	wantCode(t, p.Pid, 9)
	release()
}

// A running Start does not delay children that ended before it, and none after maxStart.
func TestCheckDuringAStart(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit time.Duration
		first bool // whether the start begins after the first check
	}{
		{"child ended before", time.Minute, true},
		{"start hangs", time.Nanosecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := New(Options{})
			r.maxStart = tt.limit
			child, err := start(0)
			if err != nil {
				t.Fatal(err)
			}
			zombie(t, child.Pid)
			var seen map[int]ended
			if tt.first {
				seen, _ = r.check(nil)
			}
			_, _, err = r.Start(func() (*os.Process, error) {
				for range minChecks {
					seen, _ = r.check(seen)
				}
				return nil, os.ErrNotExist
			})
			if hasEnded(unix.P_PID, child.Pid) {
				t.Error("the child is a zombie after the start, want it reaped")
			}
			if !errors.Is(err, os.ErrNotExist) || len(r.begun)+len(r.held) != 0 {
				t.Errorf("Start() = %v, and keeps %v and %v, want its error and nothing", err, r.begun, r.held)
			}
		})
	}
}

// os/exec always gets its children, without Start.
func TestRunKeepsChildrenOfExec(t *testing.T) {
	adopt(t)
	r := New(Options{})
	run(t, r)
	for i := range 200 {
		want := i % 100
		cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("setsid true & exit %d", want))
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			t.Fatalf("run %d: %v, want exit code %d", i, err, want)
		}
	}
	await(t, "nothing is left", func() bool { return !hasEnded(unix.P_ALL, 0) })
}
