//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// supervisorCritical are programs that end with the status that a file contains.
// supervisord restarts none of them.
const supervisorCritical = `
[program:snmpd]
command=/bin/sh -c "while [ ! -e DIR/snmpd ]; do sleep 0.1; done; exit $(cat DIR/snmpd)"
startsecs=0
autorestart=false
exitcodes=0,3
[program:relay]
command=/bin/sh -c "while [ ! -e DIR/relay ]; do sleep 0.1; done; exit $(cat DIR/relay)"
startsecs=0
autorestart=false
[program:loop]
command=/bin/sh -c "test ! -e DIR/loop && exec sleep 1000; exit 1"
startretries=1
[group:dhcp-relay]
programs=relay
`

// critical is a daemon that watches the critical programs of a supervisord.
type critical struct {
	daemon
	s    *supervised
	file string
}

func watchCritical(t *testing.T, content string) *critical {
	t.Helper()
	c := &critical{s: supervise(t, supervisorCritical)}
	c.s.reach(t, "snmpd", "RUNNING", "dhcp-relay:relay", "RUNNING", "loop", "RUNNING")
	c.file = filepath.Join(c.s.dir, "critical_processes")
	write(t, c.file, content)
	write(t, filepath.Join(c.s.dir, "rules.yml"), regexp.MustCompile(`(?m)^( *for:) .*$`).ReplaceAllString(read(t, supervisorRules), "$1 1s"))
	write(t, filepath.Join(c.s.dir, "vitals.yml"), "rule_files: [rules.yml]\ncollectors:\n"+
		"  - {name: supervisord, interval: 500ms, timeout: 500ms, supervisor: {socket: "+c.s.socket+", programs: [none], critical_file: "+c.file+"}}\n")
	c.daemon = runVitals(t, os.Getenv("VITALS_BIN"), filepath.Join(c.s.dir, "vitals.yml"), c.s.dir)
	return c
}

// state waits until a probe answers this status, with these words in it.
func (c *critical) state(t *testing.T, name string, status int, words ...string) {
	t.Helper()
	await(t, name, supervisorWithin, func() error {
		got, body, err := c.get("/" + name)
		if err != nil {
			return err
		}
		for _, w := range words {
			if !strings.Contains(body, w) {
				err = errors.Join(err, fmt.Errorf("no %q", w))
			}
		}
		if got != status || err != nil {
			return fmt.Errorf("GET /%s = %d, want %d (%v):\n%s", name, got, status, err, body)
		}
		return nil
	})
}

// exits lets a program end.
func (c *critical) exits(t *testing.T, program, with string) {
	t.Helper()
	write(t, filepath.Join(c.s.dir, program), with)
}

// again starts a program anew.
func (c *critical) again(t *testing.T, program, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(c.s.dir, program)); err != nil {
		t.Fatal(err)
	}
	c.s.control("start", name)
	c.s.reach(t, name, "RUNNING")
}

// TestSupervisorCritical lets critical programs end in every way, by the rules that the
// page of the kind shows.
func TestSupervisorCritical(t *testing.T) {
	t.Parallel()
	c := watchCritical(t, "program:snmpd\n\ngroup:dhcp-relay\n")
	// "none" is named by the configuration, and unknown to supervisord.
	c.state(t, "ready", http.StatusServiceUnavailable, "CriticalProgramUnknown failing: supervisord ", " none.")
	c.state(t, "alive", http.StatusOK)

	t.Run("E53 ends as supervisord expects", func(t *testing.T) {
		c.exits(t, "snmpd", "3")
		c.state(t, "ready", http.StatusServiceUnavailable, "CriticalProgramNotRunning failing: The critical program snmpd does not run.", "snmpd EXITED 3")
		c.state(t, "alive", http.StatusOK)
		c.again(t, "snmpd", "snmpd")
	})
	t.Run("E54 E55 E57 ends otherwise, and runs again", func(t *testing.T) {
		c.exits(t, "snmpd", "4")
		c.state(t, "alive", http.StatusServiceUnavailable, "CriticalProgramDied failing: The critical program snmpd has ended", "snmpd EXITED 4 (Bad exit code 4)")
		c.state(t, "ready", http.StatusServiceUnavailable, "CriticalProgramNotRunning")
		c.again(t, "snmpd", "snmpd")
		c.state(t, "alive", http.StatusOK)
	})
	t.Run("E54 in a critical group", func(t *testing.T) {
		c.exits(t, "relay", "1")
		c.state(t, "alive", http.StatusServiceUnavailable, "The critical program relay has ended", "dhcp-relay:relay EXITED 1")
		c.again(t, "relay", "dhcp-relay:relay")
		c.state(t, "alive", http.StatusOK)
	})
	t.Run("E56 E57 cannot be started, and then can", func(t *testing.T) {
		write(t, c.file, "program:loop\n")
		c.exits(t, "loop", "")
		c.s.control("restart", "loop")
		c.state(t, "alive", http.StatusServiceUnavailable, "The critical program loop has ended", "loop FATAL (Exited too quickly")
		c.again(t, "loop", "loop")
		c.state(t, "alive", http.StatusOK)
	})
	t.Run("E58 the file breaks, and is repaired", func(t *testing.T) {
		write(t, c.file, "program:loop\nloop\n")
		failed := func(want float64) func() error {
			return func() error {
				m, err := c.metrics()
				if err != nil {
					return err
				}
				return errors.Join(
					m.want(want, "vitals_supervisor_failure", "supervisor", "supervisord", "reason", "critical_file"),
					m.want(1-want, "vitals_collector_success", "collector", "supervisord"),
					m.want(1, "vitals_supervisor_process_critical", "supervisor", "supervisord", "group", "loop", "program", "loop"))
			}
		}
		await(t, "the broken file is reported", supervisorWithin, failed(1))
		c.state(t, "ready", http.StatusServiceUnavailable, "SupervisorSilent failing: supervisord does not ", ": critical_file.")
		write(t, c.file, "program:loop\n")
		await(t, "the file is good again", supervisorWithin, failed(0))
	})
	t.Run("E59 nothing is critical", func(t *testing.T) {
		write(t, c.file, "")
		await(t, "no program is critical", supervisorWithin, func() error {
			_, body, err := c.get("/api/v1/status")
			if err == nil && !strings.Contains(body, "no critical program") {
				err = errors.New("the status does not contain the note")
			}
			return err
		})
		c.state(t, "alive", http.StatusOK)
	})
}

// TestSupervisorCriticalFileMistakes starts with a file that is broken: a mistake of the
// configuration.
func TestSupervisorCriticalFileMistakes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(shortDirectory(t, ""), "critical_processes")
	for name, tt := range map[string]struct{ content, want string }{
		"E58 no colon":    {"program:snmpd\nsnmpd\n", file + ":2: "},
		"E58 unknown key": {"service:snmpd\n", file + ":1: "},
		"E58 no name":     {"\nprogram:\n", file + ":2: "},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, tt.content)
			code, out := onceOf(t, "ready", "critical_file: "+file, strings.NewReplacer())
			if code != 3 || !strings.Contains(out, tt.want) {
				t.Errorf("vitals once ready = %d, want 3 and the place %s:\n%s", code, tt.want, out)
			}
		})
	}
}
