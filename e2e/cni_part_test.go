//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// part is a process that reports to the health manager: one of the programs of testdata/cni. It
// obeys the lines of its standard input and ends with it.
type part struct {
	// name is that of the component, and of its program.
	name string
	// before is what runs in front of the program and then becomes it, as setpriv does.
	before []string
	// env is added to the environment.
	env []string

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
}

// newPart prepares a Python program of testdata/cni and starts it. It ends with the test.
func newPart(t *testing.T, name string, before []string, env ...string) *part {
	t.Helper()
	p := &part{name: name, before: before, env: env}
	t.Cleanup(func() { p.end(t) })
	p.start(t)
	return p
}

// start starts the process, or starts it again.
func (p *part) start(t *testing.T) {
	t.Helper()
	p.stderr.Reset()
	command := append(slices.Clone(p.before), "python3", filepath.Join("testdata", "cni", p.name+".py"))
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), p.env...)
	cmd.Stderr = &p.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.cmd, p.stdin = cmd, stdin
}

// send sends a line to the process.
func (p *part) send(t *testing.T, words ...string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.stdin, strings.Join(words, " ")); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// signal sends a signal: SIGSTOP makes the process hang.
func (p *part) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// kill ends the process at once, so that it reports nothing more.
func (p *part) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	_ = p.cmd.Wait() // it was killed
	p.cmd = nil
}

// end lets the process exit. It may not have failed meanwhile.
func (p *part) end(t *testing.T) {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // one that hangs sees no end of its input
	_ = p.stdin.Close()
	kill := time.AfterFunc(time.Minute, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%s: %v, want it to end with its input\n%s", p.name, err, p.stderr.String())
	}
	p.cmd = nil
}
