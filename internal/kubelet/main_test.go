package kubelet_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds the wait for an expected event; only a failure takes so long.
const patience = time.Minute

// binaries is the directory of the programs under test; TestMain sets it.
var binaries string

// TestMain builds the programs.
func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "vitals-kubelet")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-o", dir, "./cmd/vitals", "./cmd/healthcheck")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the programs: %v\n%s", err, out)
	}
	binaries = dir
	return m.Run(), nil
}

// eventually waits until ok is true; what describes the condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			t.Fatalf("waited %s in vain for: %s", patience, what)
		case <-ticker.C:
		}
	}
}

// lines is the output of a process so far.
type lines struct {
	mu   sync.Mutex // guards what follows
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// daemon is a running Vitals with an empty directory for the files that its collectors check.
type daemon struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	log    *lines
	done   chan struct{}
	socket string
}

const config = `
evaluation_interval: 100ms
rule_files: [rules.yml]
states: {gold: {}, silver: {}}
collectors:
  - {name: bad, interval: 1s, timeout: 1s, file: {path: "DIR/bad"}}
`

// rules fail ready and silver while the file exists. gold has no evidence.
const rules = `
groups:
  - name: g
    rules:
      - alert: Bad
        expr: vitals_file_exists{file="bad"} == 1
        labels: {state: ready}
        annotations: {summary: The marker exists.}
      - alert: Tarnished
        expr: vitals_file_exists{file="bad"} == 1
        labels: {state: silver}
        annotations: {summary: The marker exists., exit_code: "17"}
      - alert: Unseen
        expr: vitals_file_exists{file="none"} == 1
        labels: {state: gold}
        annotations: {summary: The marker exists., no_data: fail}
`

// start starts Vitals as launch does, and waits until all of its collectors have finished once.
func start(t *testing.T, config, rules string, flags ...string) *daemon {
	t.Helper()
	d := launch(t, config, rules, flags...)
	d.become("started", 0)
	return d
}

// launch starts Vitals on free ports with a configuration, rules and flags.
func launch(t *testing.T, config, rules string, flags ...string) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "v") // short, as the paths of sockets are
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := &daemon{t: t, dir: dir, log: &lines{}, done: make(chan struct{}), socket: filepath.Join(dir, "v.sock")}
	d.write("vitals.yml", strings.ReplaceAll(config, "DIR", dir))
	d.write("rules.yml", rules)
	args := []string{"run", "--config.file=" + filepath.Join(dir, "vitals.yml"), "--web.listen-address=127.0.0.1:0", "--web.unix-socket=" + d.socket}
	d.cmd = exec.Command(filepath.Join(binaries, "vitals"), append(args, flags...)...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // killed by the test
	}()
	t.Cleanup(func() {
		d.kill()
		if t.Failed() {
			t.Logf("output of vitals:\n%s", d.log)
		}
	})
	return d
}

// become waits until the exec probe has the exit code for a state.
func (d *daemon) become(state string, want int) {
	d.t.Helper()
	eventually(d.t, fmt.Sprintf("code %d of %s", want, state), func() bool {
		code, _ := d.healthcheck(state)
		return code == want
	})
}

func (d *daemon) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// stop stops the process and waits until each of its threads has stopped.
func (d *daemon) stop() {
	d.t.Helper()
	d.signal(syscall.SIGSTOP)
	eventually(d.t, "the process to stop", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", d.cmd.Process.Pid))
		if err != nil || len(threads) == 0 {
			return false
		}
		for _, thread := range threads {
			// The state is behind the name in parentheses (proc_pid_stat(5)).
			text, err := os.ReadFile(thread)
			if _, state, ok := strings.Cut(string(text), ") "); err != nil || !ok || !strings.HasPrefix(state, "T") {
				return false
			}
		}
		return true
	})
}

// kill ends the process and waits for its end.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill() // it may have ended
	<-d.done
}

// fail makes ready fail and waits until it does.
func (d *daemon) fail() {
	d.t.Helper()
	d.write("bad", "")
	d.become("ready", 1)
}

// healthcheck returns the exit code and the output of the exec probe.
func (d *daemon) healthcheck(state string) (code int, out string) {
	d.t.Helper()
	cmd := exec.Command(filepath.Join(binaries, "healthcheck"), d.arguments(state)...)
	text, err := cmd.Output()
	if cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// arguments are those of the exec probe for a state.
func (d *daemon) arguments(state string) []string {
	return []string{"--socket=" + d.socket, "--state=" + state, "--style=plain", "--config.file=" + filepath.Join(d.dir, "none.yml"), "--timeout=20s"}
}

// port returns the port of a listener: of everything, of probes or of gRPC.
func (d *daemon) port(message string) int {
	d.t.Helper()
	pattern, port := regexp.MustCompile(`msg="`+message+`" address=127.0.0.1:(\d+)`), 0
	eventually(d.t, message, func() bool {
		m := pattern.FindStringSubmatch(d.log.String())
		if m != nil {
			_, _ = fmt.Sscan(m[1], &port) // the pattern has digits only
		}
		return m != nil
	})
	return port
}

// The messages of the listeners.
const (
	everything = "Listening on"
	probesOnly = "listening for probes"
	grpcOnly   = "listening for gRPC"
)
