package script_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// children returns the child processes, with zombies.
func children(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob() = %v, %v, want the children of each thread", files, err)
	}
	var all []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil { // or the thread has ended
			all = append(all, strings.Fields(string(text))...)
		}
	}
	return all
}

// pid waits for the process ID that a process writes into a file.
func pid(t testing.TB, path string) int {
	t.Helper()
	var pid int
	collectortest.Wait(t, "a process writes its number to "+path, func() bool {
		text, _ := os.ReadFile(path)
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		pid = n
		return err == nil && strings.HasSuffix(string(text), "\n")
	})
	return pid
}

// gone waits until a process has ended; a zombie has.
func gone(t testing.TB, pid int) {
	t.Helper()
	collectortest.Wait(t, fmt.Sprintf("process %d ends", pid), func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// No child, goroutine or descriptor is left, however the parent ended.
func TestLeavesNoZombies(t *testing.T) {
	defer goleak.VerifyNone(t)
	ends, hangs := newShell(t, "exit 3", ""), newShell(t, "sleep 1000 & sleep 1000", "")
	crashes := newShell(t, "kill -11 $$", "")
	before := len(files(t))
	for i := range 1000 {
		switch {
		case i%20 == 0:
			_, _ = collectortest.CollectWithin(t, hangs, 20*time.Millisecond)
		case i%20 == 1:
			_, _ = collectortest.Collect(t, crashes)
		default:
			_, _ = collectortest.Collect(t, ends)
		}
		// On a busy machine, a collection ends before its process does.
		collectortest.Wait(t, "no child is left", func() bool { return len(children(t)) == 0 })
	}
	if after := files(t); len(after) > before+2 {
		t.Errorf("descriptors %v are open after 1000 runs, %d were before", after, before)
	}
}

func files(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The whole process group is killed: at the deadline (E50), and after a script that left a process
// running.
func TestLeavesNothingRunning(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name, command string
		outcome       func(testing.TB, collectors.Collector, time.Duration) string
		timeout       time.Duration
		want          string
	}{
		{"E50 at the deadline", "trap '' TERM; sh -c 'echo $$ >FILE; exec sleep 1000' & wait", killed, 2 * time.Second, "unknown, timeout, signal 9: "},
		{"after its end", "sh -c 'echo $$ >FILE; exec sleep 1000' & until [ -s FILE ]; do sleep 0.01; done; echo done", outcome, collectortest.Patience, "ok, exit 0: done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-"))
			got := tt.outcome(t, newShell(t, strings.ReplaceAll(tt.command, "FILE", file), ""), tt.timeout)
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("Collect() exports %q, want %q", got, tt.want)
			}
			gone(t, pid(t, file))
		})
	}
}

// A process that leaves the session survives, and its end of the pipe does not block.
func TestLetsDaemonsGo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	c := newShell(t, fmt.Sprintf("setsid sh -c 'echo $$ >%s; exec sleep 1000' & until [ -s %s ]; do :; done; echo started", file, file), "")
	begin := time.Now()
	if got, want := outcome(t, c, collectortest.Patience), "ok, exit 0: started"; got != want {
		t.Errorf("Collect() exports %q, want %q", got, want)
	}
	if took := time.Since(begin); took > collectortest.Patience/2 {
		t.Errorf("Collect() took %s with the pipe held open, want much less than the deadline", took)
	}
	pid := pid(t, file)
	if err := unix.Kill(pid, 0); err != nil {
		t.Errorf("the daemon of the script is gone: %v, want it to be left alone", err)
	}
	_ = unix.Kill(pid, unix.SIGKILL)
}

// As the first process of a container, or a subreaper, Vitals becomes the parent of the
// grandchildren that it kills, and reaps them, too.
func TestReapsOrphans(t *testing.T) {
	adopts(t)
	for range 20 {
		for _, command := range []string{"(sleep 1000 & sleep 1000) & sleep 1000", "(sleep 1000 & sleep 1000 &) ; (true &); exit 0"} {
			_, _ = collectortest.CollectWithin(t, newShell(t, command, ""), 50*time.Millisecond)
			collectortest.Wait(t, "no child is left of "+command, func() bool { return len(children(t)) == 0 })
		}
	}
}

// At the end of the program, Run returns after the process has ended, and none is started.
func TestEndsWithTheProgram(t *testing.T) {
	defer goleak.VerifyNone(t)
	file := filepath.Join(t.TempDir(), "pid")
	c := newShell(t, fmt.Sprintf("echo $$ >%s; sleep 1000", file), "")
	ctx, cancel := context.WithCancel(t.Context())
	collected, ran := make(chan error), make(chan struct{})
	go func() {
		_, err := c.Collect(ctx)
		collected <- err
	}()
	go func() {
		defer close(ran)
		c.(collectors.Runner).Run(ctx, func() { t.Error("Run() requests a collection, want none") })
	}()
	pid := pid(t, file)
	cancel()
	if err := <-collected; err == nil {
		t.Error("Collect() = nil after its context ended, want an error")
	}
	<-ran
	if err := unix.Kill(pid, 0); err == nil {
		t.Errorf("process %d is there after Run() has returned, want it gone", pid)
	}
	_ = os.Remove(file)
	_, err := c.Collect(ctx)
	if _, missing := os.Stat(file); err == nil || missing == nil {
		t.Errorf("Collect() = %v with an ended context, want an error and no process", err)
	}
}

// A process ends with the one that started it, so that a probe that is killed while it
// evaluates leaves no script behind.
func TestDiesWithItsParent(t *testing.T) {
	const variable = "VITALS_TEST_SCRIPT"
	if file := os.Getenv(variable); file != "" { // this is the parent
		_, _ = collectortest.CollectWithin(t, newShell(t, fmt.Sprintf("echo $$ >%s; exec sleep 1000", file), ""), time.Hour)
		return
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(os.Args[0], "-test.run=^TestDiesWithItsParent$")
	parent.Env = append(os.Environ(), variable+"="+file)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := pid(t, file)
	_, _ = parent.Process.Kill(), parent.Wait()
	gone(t, pid)
}
