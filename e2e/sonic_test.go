//go:build e2e

package e2e_test

import (
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

// TestSonicStart compares, row by row, the result of SONiC's own probe for the program
// start with the result of this one.
func TestSonicStart(t *testing.T) {
	image := newSonicImage(t)
	program := func(command string, more ...string) string {
		return "[program:start]\ncommand=" + command + "\n" + strings.Join(more, "\n") + "\n"
	}
	exits := func(code int, more ...string) string {
		return program(fmt.Sprintf(`/bin/sh -c "exit %d"`, code), append(more, "startsecs=0", "autorestart=false")...)
	}
	const inGroup = "[group:grp]\nprograms=start\n"
	tests := []struct {
		name, sections string
		reach          []string
		want           sonicAnswer
	}{
		{"E36 exited with 0", exits(0), []string{"start", "EXITED"}, sonicAnswer{0, []string{"start EXITED 0"}}},
		{"E37 exited with 3", exits(3), []string{"start", "EXITED"}, sonicAnswer{2, []string{"StartNotFinished", "ended with status 3", "start EXITED 3 (Bad exit code 3)"}}},
		{"E38 killed by SIGKILL", program(`/bin/sh -c "kill -9 $$"`, "startsecs=0", "autorestart=false"), []string{"start", "EXITED"}, sonicAnswer{2, []string{"was ended by a signal", "start EXITED -1"}}},
		{"E39 RUNNING", program("/bin/sleep 1000"), []string{"start", "RUNNING"}, sonicAnswer{2, []string{"it is running"}}},
		{"E39 STARTING", program("/bin/sleep 1000", "startsecs=600"), []string{"start", "STARTING"}, sonicAnswer{2, []string{"it is starting"}}},
		{"E39 BACKOFF", program(`/bin/sh -c "exit 1"`, "startretries=1000"), []string{"start", "BACKOFF"}, sonicAnswer{2, []string{"StartNotFinished"}}},
		{"E39 STOPPED", program("/bin/sleep 1000", "autostart=false"), []string{"start", "STOPPED"}, sonicAnswer{2, []string{"it is stopped"}}},
		{"E40 FATAL, cannot be spawned", program("/nowhere/program", "startretries=0"), []string{"start", "FATAL"}, sonicAnswer{2, []string{"it is fatal", "can't find command"}}},
		{"E40 FATAL, ends at once", program(`/bin/sh -c "exit 1"`, "startretries=0"), []string{"start", "FATAL"}, sonicAnswer{2, []string{"it is fatal", "Exited too quickly"}}},
		{"E41 absent", oneProgram, []string{"running", "RUNNING"}, sonicAnswer{0, []string{"no program start"}}},
		{"E42 in a group, exited with 0", exits(0) + inGroup, []string{"grp:start", "EXITED"}, sonicAnswer{0, []string{"grp:start EXITED 0"}}},
		{"E42 in a group, exited with 3", exits(3) + inGroup, []string{"grp:start", "EXITED"}, sonicAnswer{2, []string{"ended with status 3"}}},
		{"E42 in a group, RUNNING", program("/bin/sleep 1000") + inGroup, []string{"grp:start", "RUNNING"}, sonicAnswer{2, []string{"it is running"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := supervise(t, tt.sections)
			s.reach(t, tt.reach...)
			newSonicBox(t, image, s.socket, nil).both(t, tt.want)
		})
	}
}

// TestSonicSupervisor distinguishes the reasons why supervisord returns no states.
func TestSonicSupervisor(t *testing.T) {
	image := newSonicImage(t)
	unreachable := func(reason string) sonicAnswer {
		return sonicAnswer{110, []string{"SupervisorUnreachable", reason}}
	}
	tests := map[string]struct {
		sections string
		http     []string
		do       func(t *testing.T, s *supervised)
		want     sonicAnswer
	}{
		"E43 socket missing": {oneProgram, nil, func(t *testing.T, s *supervised) {
			if err := os.Remove(s.socket); err != nil {
				t.Fatal(err)
			}
		}, unreachable("missing")},
		"E43 socket refused": {oneProgram, nil, func(t *testing.T, s *supervised) {
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			s.ended(t, supervisorWithin)
		}, unreachable("refused")},
		"E43 password": {oneProgram, []string{"username=vitals", "password=test-password"}, func(*testing.T, *supervised) {}, sonicAnswer{111, []string{"SupervisorForbidden"}}},
		"E67 frozen": {oneProgram, nil, func(t *testing.T, s *supervised) {
			if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}, unreachable("timeout")},
		"E44 SHUTDOWN": {fmt.Sprintf(stubborn, 60), nil, func(t *testing.T, s *supervised) {
			await(t, "the program ignores signals", supervisorWithin, func() error {
				_, err := os.Stat(filepath.Join(s.dir, "stubborn"))
				return err
			})
			s.control("shutdown")
		}, sonicAnswer{2, []string{"SupervisorStopping"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := supervise(t, tt.sections, tt.http...)
			tt.do(t, s)
			newSonicBox(t, image, s.socket, nil).both(t, tt.want)
			for _, pid := range sessionOf(t, s.cmd.Process.Pid) { // or its end would wait for them
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}

// TestSonicHook runs hooks with a start program that has finished.
func TestSonicHook(t *testing.T) {
	t.Parallel()
	image := newSonicImage(t)
	s := supervise(t, "[program:start]\ncommand=/bin/true\nstartsecs=0\nautorestart=false\n")
	s.reach(t, "start", "EXITED")
	const sh = "#!/bin/sh\n"
	tests := []struct {
		name, hook string
		mode       os.FileMode
		set        map[string]string
		want       sonicAnswer
	}{
		{"E45 exit 0", sh + "echo fine\n", 0o755, nil, sonicAnswer{0, []string{"fine"}}},
		{"E45 exit 7", sh + "echo no route\nexit 7\n", 0o755, nil, sonicAnswer{7, []string{"HookFailed", "no route"}}},
		{"E46 exit 1 by an exception", "#!/usr/bin/python3\nraise KeyError('route')\n", 0o755, nil, sonicAnswer{1, []string{"HookReserved", "KeyError: 'route'"}}},
		{"E46 exit 2", sh + "exit 2\n", 0o755, nil, sonicAnswer{2, []string{"HookReserved"}}},
		{"E47 SIGKILL", sh + "kill -9 $$\n", 0o755, nil, sonicAnswer{114, []string{"HookCrashed", "signal 9"}}},
		{"exit 256", "#!/bin/bash\nexit 256\n", 0o755, nil, sonicAnswer{0, nil}},
		{"E48 interpreter missing", "#!/no/such/interpreter\n", 0o755, nil, sonicAnswer{115, []string{"HookCannotRun", "/no/such/interpreter"}}},
		{"E48 directory", "", os.ModeDir | 0o755, nil, sonicAnswer{115, []string{"HookCannotRun", "directory"}}},
		{"E48 command missing", sh + "exec /no/such/command\n", 0o755, nil, sonicAnswer{118, []string{"127"}}},
		{"E49 not executable", sh + "exit 7\n", 0o644, nil, sonicAnswer{0, []string{"HookNotExecutable", "skipped"}}},
		{"E49 not executable, which is to fail", sh + "exit 7\n", 0o644, map[string]string{"hook_not_executable": "fail"}, sonicAnswer{116, []string{"HookNotExecutable"}}},
	}
	// All of them before any is run: one that is open for writing cannot be.
	boxes := make([]*sonicBox, len(tests))
	for i, tt := range tests {
		boxes[i] = newSonicBox(t, image, s.socket, tt.set)
		path, err := boxes[i].set["hook"], error(nil)
		if tt.mode.IsDir() {
			err = os.Mkdir(path, 0o755)
		} else if err = os.WriteFile(path, []byte(tt.hook), 0o600); err == nil {
			err = os.Chmod(path, tt.mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { boxes[i].both(t, tt.want) })
	}
	t.Run("E50 hangs", func(t *testing.T) {
		b := newSonicBox(t, image, s.socket, nil)
		pids := filepath.Join(b.dir, "pids")
		write(t, b.set["hook"], sh+"trap '' TERM INT HUP\nsleep 1000 &\necho $$ $! >>"+pids+"\nsleep 1000\n")
		if err := os.Chmod(b.set["hook"], 0o755); err != nil {
			t.Fatal(err)
		}
		await(t, "the probe answers 117 without a daemon", supervisorWithin, func() error {
			begin := time.Now()
			err := (sonicAnswer{117, []string{"HookTimeout", "killed after"}}).check(b.probeAlone(t, "--timeout=3s"))
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("the probe took %s, want at most its 3s and what a busy machine adds", took)
			}
			return err
		})
		allGone(t, pids)
		b.run(t)
		b.await(t, sonicAnswer{117, []string{"HookTimeout", "killed after"}})
		allGone(t, pids)
	})
}

// allGone waits until all processes have ended whose numbers a file holds.
func allGone(t *testing.T, file string) {
	t.Helper()
	await(t, "the hook's processes are gone", supervisorWithin, func() error {
		for _, word := range strings.Fields(read(t, file)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return err
			}
			if syscall.Kill(pid, 0) == nil {
				return fmt.Errorf("process %d is there", pid)
			}
		}
		return os.Truncate(file, 0)
	})
}

// TestSonicCritical lets critical programs end, and run again.
func TestSonicCritical(t *testing.T) {
	image := newSonicImage(t)
	const sections = `
[program:start]
command=/bin/true
startsecs=0
autorestart=false
[program:snmpd]
command=/bin/sh -c "trap 'exit 3' USR1; while :; do sleep 0.1; done"
startsecs=0
autorestart=false
exitcodes=0,3
[program:looping]
command=/bin/sh -c "exit 1"
startretries=0
autostart=false
`
	down := sonicAnswer{112, []string{"CriticalProgramDown", "snmpd ended unexpectedly"}}
	for name, set := range map[string]map[string]string{"restarts": nil, "E55 nothing restarts": {"auto_restart": "disabled"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := supervise(t, sections)
			s.reach(t, "start", "EXITED", "snmpd", "RUNNING", "looping", "STOPPED")
			b := newSonicBox(t, image, s.socket, set)
			write(t, b.set["critical_processes"], "program:snmpd\n\ngroup:looping\n")
			b.run(t)
			failing, other := "--state=alive", "--state=ready"
			passes := sonicAnswer{120, []string{"not alive"}}
			if set != nil {
				failing, other, passes = other, failing, sonicAnswer{0, []string{"CriticalProgramDown"}}
			}
			healthy := func(t *testing.T) {
				t.Helper()
				b.await(t, sonicAnswer{0, []string{"ok"}}, failing)
				b.await(t, sonicAnswer{0, []string{"ok"}}, other)
			}
			healthy(t)
			t.Run("E53 ends as expected", func(t *testing.T) {
				s.control("signal", "USR1", "snmpd")
				s.reach(t, "snmpd", "EXITED")
				b.await(t, sonicAnswer{0, []string{"snmpd EXITED 3"}}, failing)
				s.control("start", "snmpd")
				healthy(t)
			})
			t.Run("E54 ends unexpectedly", func(t *testing.T) {
				s.control("signal", "KILL", "snmpd")
				b.await(t, down, failing)
				b.await(t, passes, other)
			})
			t.Run("E57 runs again", func(t *testing.T) {
				s.control("start", "snmpd")
				healthy(t)
			})
			t.Run("E56 is FATAL", func(t *testing.T) {
				s.control("start", "looping")
				s.reach(t, "looping", "FATAL")
				b.await(t, sonicAnswer{112, []string{"looping cannot be kept running"}}, failing)
			})
		})
	}
}

// TestSonicUpgrade is the post-check of an upgrade, which polls until the container is
// ready, or falls back.
func TestSonicUpgrade(t *testing.T) {
	t.Parallel()
	image := newSonicImage(t)
	s := supervise(t, "[program:start]\ncommand=/bin/sh -c \"until [ -e DIR/handed-over ]; do sleep 0.2; done\"\nstartsecs=0\nautorestart=false\n")
	s.reach(t, "start", "RUNNING")
	b := newSonicBox(t, image, s.socket, nil)
	b.run(t)
	b.await(t, sonicAnswer{2, []string{"it is running"}})
	wait := func(timeout string) *exec.Cmd {
		return exec.CommandContext(t.Context(), filepath.Join(image.dir, "vitals"), "wait", "ready", "--style=sonic", "--socket="+b.socket(), "--timeout="+timeout, "--interval=300ms")
	}
	t.Run("E52 never ready", func(t *testing.T) {
		out, code := probed(t, wait("2s"))
		if code != 2 || !strings.Contains(out, "gave up") || !strings.Contains(out, "\nfailing 2 StartNotFinished") {
			t.Errorf("vitals wait = %d, want 2 with the last reason:\n%s", code, out)
		}
	})
	t.Run("E51 ready in the end", func(t *testing.T) {
		cmd, printed := wait("2m"), filepath.Join(b.dir, "printed")
		file, err := os.Create(printed)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		cmd.Stdout, cmd.Stderr = file, file
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "the wait has failed", supervisorWithin, func() error {
			if out := read(t, printed); !strings.Contains(out, "failing 2 StartNotFinished") {
				return fmt.Errorf("vitals wait prints %q", out)
			}
			return nil
		})
		write(t, filepath.Join(s.dir, "handed-over"), "")
		if err := cmd.Wait(); err != nil || !strings.Contains(read(t, printed), "\nok 0 ready: ") {
			t.Errorf("vitals wait: %v, want 0 after it has failed:\n%s", err, read(t, printed))
		}
		if err := (sonicAnswer{0, []string{"start EXITED 0"}}).check(b.probe(t)); err != nil {
			t.Error(err)
		}
	})
}
