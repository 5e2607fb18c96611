//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// supervisorStates are programs in all states that a program can be brought into.
const supervisorStates = `
[program:done]
command=/bin/sh -c "exit 0"
startsecs=0
autorestart=false
[program:three]
command=/bin/sh -c "exit 3"
startsecs=0
autorestart=false
[program:killed]
command=/bin/sh -c "kill -9 $$"
startsecs=0
autorestart=false
[program:running]
command=/bin/sleep 1000
[program:starting]
command=/bin/sleep 1000
startsecs=600
[program:backoff]
command=/bin/sh -c "exit 1"
startretries=1000
[program:fatal-spawn]
command=/nowhere/program
startretries=0
[program:fatal-loop]
command=/bin/sh -c "exit 1"
startretries=1
[program:stopped]
command=/bin/sleep 1000
autostart=false
[program:inside]
command=/bin/sh -c "exit 0"
startsecs=0
autorestart=false
[program:insidebad]
command=/bin/sh -c "exit 4"
startsecs=0
autorestart=false
[group:boot]
programs=inside,insidebad
`

// TestSupervisorStart checks a program that has to end with status 0, in every state that
// supervisord may report.
func TestSupervisorStart(t *testing.T) {
	s := supervise(t, supervisorStates)
	s.reach(t, "done", "EXITED", "three", "EXITED", "killed", "EXITED", "running", "RUNNING", "starting", "STARTING",
		"fatal-spawn", "FATAL", "fatal-loop", "FATAL", "stopped", "STOPPED", "boot:inside", "EXITED", "boot:insidebad", "EXITED")
	tests := []struct {
		name, program string
		code          int
		want          []string
	}{
		{"E36 exited with 0", "done", 0, []string{"done EXITED 0"}},
		{"E37 exited with 3", "three", 1, []string{"StartNotFinished", "its exit status is 3", "three EXITED 3 (Bad exit code 3)"}},
		{"E38 killed by a signal", "killed", 1, []string{"StartNotFinished", "its exit status is -1", "killed EXITED -1"}},
		{"E39 running", "running", 1, []string{"it is running", "running RUNNING"}},
		{"E39 starting", "starting", 1, []string{"it is starting", "starting STARTING"}},
		{"E39 stopped", "stopped", 1, []string{"it is stopped", "stopped STOPPED"}},
		{"E40 fatal, cannot be started", "fatal-spawn", 1, []string{"it is fatal", "can't find command '/nowhere/program'"}},
		{"E40 fatal, ends at once", "fatal-loop", 1, []string{"it is fatal", "Exited too quickly"}},
		{"E41 absent", "absent", 0, []string{"no program absent"}},
		{"E42 in a group, exited with 0", "inside", 0, []string{"boot:inside EXITED 0"}},
		{"E42 in a group, exited with 4", "insidebad", 1, []string{"its exit status is 4", "boot:insidebad EXITED 4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules := strings.NewReplacer(`program="start"`, fmt.Sprintf("program=%q", tt.program), `program!="start"`, fmt.Sprintf("program!=%q", tt.program))
			code, out := onceOf(t, "ready", "socket: "+s.socket+", programs: ["+tt.program+"]", rules)
			if code != tt.code {
				t.Errorf("vitals once ready = %d, want %d:\n%s", code, tt.code, out)
			}
			for _, words := range tt.want {
				if !strings.Contains(out, words) {
					t.Errorf("vitals once ready does not print %q:\n%s", words, out)
				}
			}
		})
	}
	// Whether it waits for its next attempt or makes it depends on the moment.
	t.Run("E39 backoff", func(t *testing.T) {
		rules := strings.NewReplacer(`program="start"`, `program="backoff"`)
		await(t, "backoff is seen", supervisorWithin, func() error {
			code, out := onceOf(t, "ready", "socket: "+s.socket+", programs: [backoff]", rules)
			if code != 1 || !strings.Contains(out, "it is backoff") || !strings.Contains(out, "backoff BACKOFF (Exited too quickly") {
				return fmt.Errorf("vitals once ready = %d, want 1 and the state:\n%s", code, out)
			}
			return nil
		})
	})
}

// stubborn is a program that ignores SIGTERM.
const stubborn = `
[program:stubborn]
command=/bin/sh -c "trap '' TERM; touch DIR/stubborn; while :; do sleep 0.2; done"
stopwaitsecs=%d
`

// oneProgram is enough where it does not matter what runs.
const oneProgram = "\n[program:running]\ncommand=/bin/sleep 1000\n"

// silent checks that supervisord returns no states to a collector, for this reason.
func silent(t *testing.T, collector, reason string, before ...string) {
	t.Helper()
	code, out := onceOf(t, "ready", collector, strings.NewReplacer(), before...)
	want := regexp.MustCompile("SupervisorSilent failing: supervisord does not [^:]*: " + reason + `\.`)
	if code != 1 || !want.MatchString(out) {
		t.Errorf("vitals once ready = %d, want 1 and %s:\n%s", code, want, out)
	}
}

// TestSupervisorUnreachable distinguishes the reasons why supervisord cannot be reached.
func TestSupervisorUnreachable(t *testing.T) {
	t.Run("E43 missing", func(t *testing.T) {
		t.Parallel()
		silent(t, "socket: "+filepath.Join(shortDirectory(t, ""), "none.sock"), "missing")
	})
	t.Run("E43 refused", func(t *testing.T) {
		t.Parallel()
		s := supervise(t, oneProgram)
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		s.ended(t, supervisorWithin)
		silent(t, "socket: "+s.socket, "refused")
	})
	t.Run("E43 no port", func(t *testing.T) {
		t.Parallel()
		silent(t, "url: 'http://"+address(t)+"'", "refused")
	})
	t.Run("E43 of another user", func(t *testing.T) {
		t.Parallel()
		s := supervise(t, oneProgram)
		if err := os.Chmod(s.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		silent(t, "socket: "+s.socket, "forbidden", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
	})
}

// TestSupervisorSilent distinguishes the reasons why a supervisord that can be reached
// returns no states.
func TestSupervisorSilent(t *testing.T) {
	t.Run("password", func(t *testing.T) {
		t.Parallel()
		s := supervise(t, oneProgram, "username=vitals", "password=test-password")
		silent(t, "socket: "+s.socket, "auth")
		silent(t, "socket: "+s.socket+", username: vitals, password: wrong", "auth")
		if code, out := onceOf(t, "ready", "socket: "+s.socket+", username: vitals, password: test-password", strings.NewReplacer()); code != 0 || strings.Contains(out, "test-password") {
			t.Errorf("vitals once ready = %d with the password, want 0 and not a word of it:\n%s", code, out)
		}
	})
	t.Run("port", func(t *testing.T) {
		t.Parallel()
		port := address(t)
		supervise(t, oneProgram+"\n[inet_http_server]\nport="+port+"\n")
		if code, out := onceOf(t, "ready", "url: 'http://"+port+"'", strings.NewReplacer()); code != 0 {
			t.Errorf("vitals once ready = %d, want 0:\n%s", code, out)
		}
	})
	t.Run("stopped by a signal", func(t *testing.T) {
		t.Parallel()
		s := supervise(t, oneProgram)
		if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		silent(t, "socket: "+s.socket, "timeout")
	})
	for name, action := range map[string]string{"E44 shutting down": "shutdown", "E44 restarting": "reload"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := supervise(t, fmt.Sprintf(stubborn, 60))
			await(t, "the program ignores signals", supervisorWithin, func() error {
				_, err := os.Stat(filepath.Join(s.dir, "stubborn"))
				return err
			})
			s.control(action)
			silent(t, "socket: "+s.socket, "shutting_down")
			for _, pid := range sessionOf(t, s.cmd.Process.Pid) { // or its end would wait for them
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
	t.Run("without its methods", func(t *testing.T) {
		t.Parallel()
		s := supervise(t, oneProgram)
		rewrite(t, filepath.Join(s.dir, "supervisord.conf"), func(text string) string {
			before, after, _ := strings.Cut(text, "[rpcinterface:supervisor]\n")
			_, after, _ = strings.Cut(after, "\n")
			return before + after
		})
		s.control("reload")
		await(t, "supervisord has forgotten its methods", supervisorWithin, func() error {
			if out := s.control("pid"); !strings.Contains(out, "did not recognize") {
				return errors.New(out)
			}
			return nil
		})
		silent(t, "socket: "+s.socket, "protocol")
	})
}
