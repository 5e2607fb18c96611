//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// supervisorWithin bounds what shows with the next collection, on a busy machine.
const supervisorWithin = time.Minute

// supervised is a supervisord that a test owns.
type supervised struct {
	// dir holds its configuration, its logs and its socket.
	dir, socket string
	cmd         *exec.Cmd
	// ctl are the flags with which supervisorctl reaches it.
	ctl []string
}

// supervise runs a supervisord with these sections until the test ends, and waits until it
// answers. DIR stands for its directory; http are further lines of unix_http_server.
func supervise(t *testing.T, sections string, http ...string) *supervised {
	t.Helper()
	dir := shortDirectory(t, "")
	s := &supervised{dir: dir, socket: filepath.Join(dir, "supervisor.sock")}
	s.ctl = []string{"-c", filepath.Join(dir, "supervisord.conf"), "-s", "unix://" + s.socket}
	write(t, filepath.Join(dir, "supervisord.conf"), strings.ReplaceAll(`[unix_http_server]
file=DIR/supervisor.sock
`+strings.Join(http, "\n")+`
[supervisord]
nodaemon=true
logfile=DIR/supervisord.log
pidfile=DIR/supervisord.pid
childlogdir=DIR
[supervisorctl]
`+strings.Join(http, "\n")+`
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
`+sections, "DIR", dir))
	s.start(t)
	return s
}

// start runs supervisord, again where it has ended.
func (s *supervised) start(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command("supervisord", "-c", filepath.Join(s.dir, "supervisord.conf"))
	out, err := os.Create(filepath.Join(s.dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.cmd.Stdout, s.cmd.Stderr = out, out
	// Programs get a process group each; the session is what they share.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(t, s.cmd) })
	await(t, "supervisord answers", supervisorWithin, func() error {
		if out := s.control("pid"); strings.TrimSpace(out) != strconv.Itoa(s.cmd.Process.Pid) {
			return fmt.Errorf("supervisorctl pid: %s\n%s", out, s.log())
		}
		return nil
	})
}

// end ends a supervisord and whatever is left of its session.
func (s *supervised) end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	pid := cmd.Process.Pid
	if cmd.ProcessState == nil {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(15*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Logf("supervisord: %v\n%s", err, s.log())
		}
	}
	for _, left := range sessionOf(t, pid) {
		_ = syscall.Kill(left, syscall.SIGKILL)
	}
}

// sessionOf lists the processes of a session.
func sessionOf(t *testing.T, session int) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// Behind the name, which may hold anything: state, parent, group, session.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if fields[0] != "Z" && fields[3] == strconv.Itoa(session) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// ended waits until supervisord has ended.
func (s *supervised) ended(t *testing.T, within time.Duration) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(within):
		_ = s.cmd.Process.Kill()
		<-done
		t.Fatalf("supervisord has not ended within %s:\n%s", within, s.log())
	}
}

// control runs supervisorctl, whatever its exit code, and returns what it prints.
func (s *supervised) control(args ...string) string {
	out, err := exec.Command("supervisorctl", append(append([]string{}, s.ctl...), args...)...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	return string(out)
}

// reach waits until programs are in states, given in turn.
func (s *supervised) reach(t *testing.T, pairs ...string) {
	t.Helper()
	await(t, "programs are in their states", supervisorWithin, func() error {
		status := s.control("status")
		for i := 0; i < len(pairs); i += 2 {
			found := false
			for line := range strings.Lines(status) {
				words := strings.Fields(line)
				found = found || len(words) > 1 && words[0] == pairs[i] && words[1] == pairs[i+1]
			}
			if !found {
				return fmt.Errorf("%s is not %s:\n%s%s", pairs[i], pairs[i+1], status, s.log())
			}
		}
		return nil
	})
}

// log is the end of supervisord's log.
func (s *supervised) log() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "supervisord.log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// supervisorRules are the rules that the page of the kind shows.
const supervisorRules = "../collectors/supervisor/testdata/rules.yml"

// onceOf runs "vitals once" with this collector and the rules of that page, of which texts
// are replaced, and returns its exit code and what it printed. What is before runs first and
// becomes it: any user may read and run all of it.
func onceOf(t *testing.T, state, collector string, rules *strings.Replacer, before ...string) (int, string) {
	t.Helper()
	dir := shortDirectory(t, "")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"rules.yml":  rules.Replace(read(t, supervisorRules)),
		"vitals.yml": "rule_files: [rules.yml]\ncollectors:\n  - {name: supervisord, interval: 3s, timeout: 3s, supervisor: {" + collector + "}}\n",
	} {
		path := filepath.Join(dir, name)
		write(t, path, text)
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin := os.Getenv("VITALS_BIN")
	if len(before) > 0 {
		// Not written by this process: a child of another test could hold it open, and then
		// it could not be run.
		if out, err := exec.Command("install", "-m", "0755", bin, dir).CombinedOutput(); err != nil {
			t.Fatalf("install: %v\n%s", err, out)
		}
		bin = filepath.Join(dir, filepath.Base(bin))
	}
	args := append(before, bin, "once", state, "--config.file="+filepath.Join(dir, "vitals.yml"))
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
