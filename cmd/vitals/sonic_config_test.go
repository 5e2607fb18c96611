package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// Mistakes in SONiC's files are configuration errors: a separate exit code, and the place.
func TestSonicMistakes(t *testing.T) {
	dir := t.TempDir()
	place := func(name, text string) string {
		path := dir + "/" + name
		writeFile(t, path, text)
		return path
	}
	tests := []struct{ name, variable, value, want string }{
		{"E58 critical program without a colon", "critical_processes", place("colon", "program:snmpd\n\nsnmpd\n"), "/colon:3: "},
		{"E58 critical program of an unknown key", "critical_processes", place("key", "service:snmpd\n"), `/key:1: key "service": expected program or group`},
		{"E58 critical program without a name", "critical_processes", place("name", "program:\n"), "/name:1: "},
		{"file of critical programs is missing", "critical_processes", dir + "/none", "/none: no such file"},
		{"E58 watchdog without a colon", "watchdog_processes", place("watchdog", "\norchagent\n"), `/watchdog:2: "orchagent": expected program:NAME`},
		{"file of watchdogs is missing", "watchdog_processes", dir + "/none", "/none: there is no such file"},
		{"heartbeat is no duration", "heartbeat", "soon", "heartbeat=soon: expected a duration such as 60s, or 0 for none"},
		{"critical_programs is neither", "critical_programs", "none", "critical_programs=none: expected obey or show"},
		{"auto_restart is neither", "auto_restart", "always_enabled", "auto_restart=always_enabled: expected enabled or disabled"},
		{"hook_not_executable is neither", "hook_not_executable", "warn", "hook_not_executable=warn: expected ignore or fail"},
		{"hook is no path", "hook", "readiness_probe_hook", `path "readiness_probe_hook": expected an absolute path`},
		{"socket is no path", "socket", "supervisor.sock", `path "supervisor.sock": expected an absolute path`},
		{"unknown variable", "feature", "snmp", "the profile has no such variable, expected auto_restart, critical_processes, critical_programs, heartbeat, hook, hook_not_executable, socket or watchdog_processes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := "--set=" + tt.variable + "=" + tt.value
			var out, errs bytes.Buffer
			if code := run([]string{"run", "--profile=sonic", set}, &out, &errs); code != exitConfig || !strings.Contains(errs.String(), tt.want) {
				t.Errorf("vitals run = %d, want %d and %q:\n%s", code, exitConfig, tt.want, errs.String())
			}
			out.Reset()
			if code := run([]string{"once", "ready", "--profile=sonic", "--style=sonic", set}, &out, &errs); code != 122 || !strings.Contains(out.String(), tt.want) {
				t.Errorf("vitals once = %d, want 122 and %q:\n%s", code, tt.want, out.String())
			}
		})
	}
}

// An invalid file does not replace the content that was read before. The failed reload, or
// the file that cannot be read, is shown.
func TestSonicReload(t *testing.T) {
	t.Parallel()
	watchdog := filepath.Join(t.TempDir(), "watchdog")
	writeFile(t, watchdog, "program:orchagent\n")
	l := startSonicLab(t, map[string]string{"watchdog_processes": watchdog})
	expects := func() bool {
		_, ok := l.sample("vitals_component_expected", "component", "orchagent")
		return ok
	}
	t.Run("E76 the file of watchdogs breaks", func(t *testing.T) {
		l.await(t, "ready", sonicVerdict{})
		writeFile(t, watchdog, "nonsense\n")
		if err := l.daemon.reloader.Reload(); err == nil || !strings.Contains(err.Error(), "/watchdog:1: ") {
			t.Errorf("reload() = %v, want an error with the place", err)
		}
		l.rounds(t, "heartbeats", 1)
		if s := l.daemon.eval.Snapshot(); s.Reload.OK || !expects() {
			t.Errorf("the reload is %+v, orchagent is expected: %t, want that it failed and changed nothing", s.Reload, expects())
		}
		writeFile(t, watchdog, "program:orchagent\n")
		if err := l.daemon.reloader.Reload(); err != nil {
			t.Errorf("reload() = %v of a file that is whole again, want no error", err)
		}
		soon(t, func() string { return l.daemon.eval.Snapshot().Reload.Error })
	})
	t.Run("E76 the file of critical programs breaks", func(t *testing.T) {
		critical("nonsense\n")(t, l)
		l.await(t, "ready", sonicVerdict{0, "CriticalProcessesBroken", []string{"cannot be read any more"}})
		l.supervisord.set(managed{"snmpd", "snmpd", stFatal, 0, ""})
		l.await(t, "alive", sonicVerdict{112, "CriticalProgramDown", nil})
		l.heal(t)
		l.await(t, "ready", sonicVerdict{})
		l.await(t, "alive", sonicVerdict{})
	})
}

// The files that the profile reads by default are optional. Their absence is shown where it
// matters.
func TestSonicWithoutFiles(t *testing.T) {
	p := &program{profile: "sonic", set: map[string]string{}}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	for path, names := range map[string][]string{
		"/etc/supervisor/critical_processes": {collectorNamed(l, "supervisor").Supervisor.CriticalFile},
		"/etc/supervisor/watchdog_processes": collectorNamed(l, "heartbeats").Components.Expect,
	} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Fatalf("%s exists (%v), want a host without SONiC's files", path, err)
		}
		if slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
			t.Errorf("without %s there is %q, want nothing", path, names)
		}
		// Once it is there, the configuration is another one.
		if !l.Sources.Has(path) {
			t.Errorf("%s is no source of the configuration, want it to be", path)
		}
	}
	lab := startSonicLab(t, nil)
	lab.await(t, "ready", sonicVerdict{})
	if err := os.Remove(lab.path("critical_processes")); err != nil {
		t.Fatal(err)
	}
	missing := sonicVerdict{0, "CriticalProcessesMissing", []string{"none is watched"}}
	soon(t, func() string {
		code, text := lab.probe("ready")
		if code != 0 || !strings.Contains(text, missing.rule) {
			return text
		}
		return ""
	})
}

// Without a daemon the probe reports that, and never exits with 0. On request it evaluates
// the rules itself.
func TestSonicWithoutADaemon(t *testing.T) {
	t.Parallel()
	l := startSonicLab(t, nil)
	for _, c := range []struct {
		name, socket string
		want         sonicVerdict
	}{
		{"E80 there is no socket", l.path("none.sock"), sonicVerdict{123, "no daemon", []string{"there is no socket"}}},
		{"E80 no listener on the socket", l.path("dead.sock"), sonicVerdict{123, "no daemon", []string{"no process listens"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.socket, "dead") {
				leaveSocket(t, c.socket)
			}
			r := execprobe.Query(c.socket, "ready", time.Now().Add(labPatience))
			if wrong := c.want.differs(execprobe.Sonic.Code(r), execprobe.Sonic.Render(r)); wrong != "" {
				t.Error(wrong)
			}
		})
	}
	t.Run("E79 E80 one evaluation without a daemon exits by the verdict", func(t *testing.T) {
		if wrong := (sonicVerdict{}).differs(l.alone("ready")); wrong != "" {
			t.Error(wrong)
		}
		l.supervisord.set(managed{"start", "start", stRunning, 0, ""})
		if wrong := startFails().differs(l.alone("ready")); wrong != "" {
			t.Error(wrong)
		}
	})
}

// Before the first result, the exit code is neither 0 nor the code of a rule.
func TestSonicBeforeTheFirstResult(t *testing.T) {
	l := startSonicLab(t, nil)
	p := l.program(time.Second)
	loaded, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	d, err := p.newDaemon(loaded, discard())
	if err != nil {
		t.Fatal(err)
	}
	l.daemon = d
	server := serveHTTP(t, d.newServer(p, nil).Local(anyWriter))
	got := send(t, "GET", server.URL+"/api/v1/verdict/ready", "")
	if got.code != 200 || strings.Contains(got.body, `"exit_code"`) || !strings.Contains(got.body, `"verdict": "fail"`) {
		t.Errorf("the verdict is %d %s, want that it fails without a code", got.code, got.body)
	}
}
