package process_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

// processRole is the variable of the environment that makes this program, started
// again, one of the processes of the tests.
const processRole = "VITALS_TEST_PROCESS"

func TestMain(m *testing.M) {
	switch os.Getenv(processRole) {
	case "":
		os.Exit(m.Run())
	case realKeeper:
		if err := keepReal(); err != nil {
			fmt.Println(err)
		}
	case "parent": // of a child that ends at once and is not waited for
		if _, err := os.StartProcess("/proc/self/exe", []string{"child"}, &os.ProcAttr{Env: []string{processRole + "=ends"}}); err != nil {
			fmt.Println(err)
		}
		fallthrough
	case "waits":
		fmt.Println("started")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent ends
	}
}

// realPath is a path with this program under a name that no other process has: more
// than the kernel keeps of it.
func realPath(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), fmt.Sprintf("v%d-process-of-%s", os.Getpid(), strings.ToLower(t.Name())))
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// The kernel's own proc(5), with a process that is started, stopped, killed and started again.
func TestForReal(t *testing.T) {
	path := realPath(t)
	name := filepath.Base(path)
	c := collectortest.New(t, "p", "name: "+name, &process.Config{})
	value := func(metric string) float64 {
		samples, _ := collectortest.Collect(t, c)
		v, ok := collectortest.Value(samples, metric)
		if !ok {
			return -1
		}
		return v
	}
	is := func(metric string, want float64) {
		t.Helper()
		collectortest.Wait(t, fmt.Sprintf("%s %v", metric, want), func() bool { return value(metric) == want })
	}
	is(`vitals_process_up{process="p"}`, 0)
	is(`vitals_process_failure{process="p",reason="gone"}`, 1)

	p := startReal(t, path, "parent")
	is(`vitals_process_up{process="p"}`, 1)
	is(`vitals_process_instances{process="p"}`, 1)
	is(`vitals_process_zombie_children{process="p"}`, 1)
	if open := value(`vitals_process_open_fds{process="p"}`); open < 3 || open > value(`vitals_process_max_fds{process="p"}`) {
		t.Errorf("%v descriptors are open, want at least stdin, stdout and stderr, and no more than may be", open)
	}
	if threads := value(`vitals_process_threads{process="p"}`); threads < 2 {
		t.Errorf("%v threads, want those of a Go program", threads)
	}
	if memory := value(`vitals_process_resident_memory_bytes{process="p"}`); memory < 1<<20 || memory > 1<<30 {
		t.Errorf("%v bytes in RAM, want those of a small program", memory)
	}

	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	is(`vitals_process_states{process="p",state="stopped"}`, 1)
	is(`vitals_process_up{process="p"}`, 1)
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	is(`vitals_process_states{process="p",state="stopped"}`, 0)

	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	is(`vitals_process_states{process="p",state="zombie"}`, 1)
	is(`vitals_process_up{process="p"}`, 0)
	p.Wait()
	is(`vitals_process_failure{process="p",reason="gone"}`, 1)
	is(`vitals_process_restarts_total{process="p"}`, 0)

	startReal(t, path, "waits")
	is(`vitals_process_up{process="p"}`, 1)
	is(`vitals_process_restarts_total{process="p"}`, 1)
	startReal(t, path, "waits")
	is(`vitals_process_instances{process="p"}`, 2)
	is(`vitals_process_restarts_total{process="p"}`, 1)
}

// The start time agrees with the clock: the process was started after the test was.
func TestStartTimeForReal(t *testing.T) {
	var before unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &before); err != nil {
		t.Fatal(err)
	}
	p := startReal(t, realPath(t), "waits")
	c := collectortest.New(t, "p", fmt.Sprintf("pid: %d", p.Pid), &process.Config{})
	samples, err := collectortest.Collect(t, c)
	start, _ := collectortest.Value(samples, `vitals_process_start_time_seconds{process="p"}`)
	// The start of the host is in whole seconds.
	if early := float64(before.Sec) - start; err != nil || early > 2 || early < -collectortest.Patience.Seconds() {
		t.Errorf("Collect() has the start time %v, %v, want about %v", start, err, before.Sec)
	}
}

// A program that is replaced while it runs is the same program.
func TestByProgramForReal(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "daemon")
	if err := os.WriteFile(path, []byte(collectortest.Read(t, exe)), 0o700); err != nil {
		t.Fatal(err)
	}
	p := startReal(t, path, "waits")
	c := collectortest.New(t, "p", "exe: "+path, &process.Config{})
	for _, step := range []func() error{
		func() error { return nil },
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path, nil, 0o700) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		samples, err := collectortest.Collect(t, c)
		if n, _ := collectortest.Value(samples, `vitals_process_instances{process="p"}`); n != 1 || err != nil {
			t.Errorf("Collect() = %v processes, %v, want 1 and no error", n, err)
		}
	}
	p.end()
	samples, err := collectortest.Collect(t, c)
	if up, ok := collectortest.Value(samples, `vitals_process_up{process="p"}`); up != 0 || !ok && err == nil {
		t.Errorf("Collect() = %v, %v, want that it does not run", samples, err)
	}
}

// A search does not find Vitals and its children.
func TestIsNoRelativeForReal(t *testing.T) {
	path := realPath(t)
	child := exec.Command(path)
	child.Env = []string{processRole + "=waits"}
	stdin, err := child.StdinPipe()
	if err = errors.Join(err, child.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = stdin.Close(), child.Wait() }()
	gone := func(config, want string) {
		t.Helper()
		samples, err := collectortest.Collect(t, collectortest.New(t, "p", config, &process.Config{}))
		if up, ok := collectortest.Value(samples, `vitals_process_up{process="p"}`); up != 0 || !ok || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("Collect() with %s = %v, %v, want that it does not run: %s", config, up, err, want)
		}
	}
	is := fmt.Sprintf("except %d, which is Vitals, its ancestor or its descendant", child.Process.Pid)
	gone("name: "+filepath.Base(path), is)
	gone("argument: "+filepath.Base(path), is)
	gone("argument: "+os.Args[0], "which is Vitals") // or an ancestor with the text among its arguments
	c := collectortest.New(t, "p", fmt.Sprintf("pid: %d", child.Process.Pid), &process.Config{})
	if samples, err := collectortest.Collect(t, c); err != nil {
		t.Errorf("Collect() by number = %v, %v, want that it runs", samples, err)
	}
	other := startReal(t, path, "waits")
	c = collectortest.New(t, "p", "argument: "+path, &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if n, _ := collectortest.Value(samples, `vitals_process_instances{process="p"}`); n != 1 || err != nil {
		t.Errorf("Collect() = %v processes, %v, want %d alone", n, err, other.Pid)
	}
}

// What the kernel refuses is forbidden: neither gone nor healthy.
func TestIsForbidden(t *testing.T) {
	refused := func(err string) string { return strings.ReplaceAll(err, "*", ": permission denied") }
	tests := []struct{ name, config, closed, want string }{
		{"name", "name: else", "40/comm", "forbidden: find name else: open /proc/40/comm*"},
		{"name of one of them", "name: kuryr-daemon", "40/comm", "1 since 43"},
		{"program", "exe: /else", "40", "forbidden: find exe /else: readlink /proc/40/exe*"},
		{"cgroups", "cgroup: /else", "40/cgroup", "forbidden: find cgroup /else: open /proc/40/cgroup*"},
		{"stat", "name: kuryr-daemon", "40/stat", "1 since 43"},
		{"stat by number", "pid: 40", "40/stat", "forbidden: read process 40: open /proc/40/stat*"},
		{"process by number", "pid: 40", "40", "forbidden: read process 40: open /proc/40/stat*"},
		{"status", "pid: 40", "40/status", "1 since 42"},
		{"descriptors", "pid: 40", "40/fd", "forbidden, up 1: count descriptors of process 40: open /proc/40/fd*"},
		{"limits", "pid: 40", "40/limits", "forbidden, up 1: count descriptors of process 40: open /proc/40/limits*"},
		{"children", "pid: 40", "40/task", "forbidden, up 1: list children of process 40: open /proc/40/task*"},
		{"start of the host", "pid: 40", "stat", "forbidden, up 1: read the start of the host: open /proc/stat*"},
		{"all processes", "name: x", ".", "forbidden: list processes: open /proc*"},
		{"PID file", "pid_file: PROC/closed", "closed", "forbidden: read PID file: open /proc/closed*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, proctest.Kuryr()...)
			collectortest.Write(t, filepath.Join(mount, "closed"), "40")
			proctest.OpenAll(t, mount)
			proctest.CloseFile(t, filepath.Join(mount, tt.closed))
			c := collectortest.New(t, "p", strings.ReplaceAll(tt.config, "PROC", mount)+"\nprocfs: "+mount, &process.Config{})
			var got string
			proctest.AsOther(t, func() {
				samples, err := c.Collect(t.Context())
				got = strings.ReplaceAll(outcome(samples, err), mount, "/proc")
			})
			if got != refused(tt.want) {
				t.Errorf("Collect() = %s, want %s", got, refused(tt.want))
			}
		})
	}
}
