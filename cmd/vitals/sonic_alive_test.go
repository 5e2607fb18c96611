package main

import (
	"fmt"
	"strings"
	"testing"
)

// dead returns the verdicts of a container whose liveness fails by a rule: it is not ready
// either.
func dead(code int, rule string, words ...string) (ready, alive sonicVerdict) {
	return sonicVerdict{120, "", []string{"not alive"}}, sonicVerdict{code, rule, words}
}

// sonicCriticalCases are about critical programs where the container may be restarted.
func sonicCriticalCases() []sonicCase {
	down := func(id, name string, m managed, words ...string) sonicCase {
		c := sonicCase{id: id, name: name, given: programIs(m)}
		c.ready, c.alive = dead(112, "CriticalProgramDown", words...)
		return c
	}
	return []sonicCase{
		{id: "E53", name: "a critical program exited as expected", given: programIs(managed{"snmpd", "snmpd", stExited, 0, ""})},
		{id: "E53", name: "a critical program exited as expected, with 3", given: programIs(managed{"snmpd", "snmpd", stExited, 3, ""})},
		down("E54", "a critical program exited unexpectedly", managed{"snmpd", "snmpd", stExited, 1, "Bad exit code 1"}, "snmpd ended unexpectedly", "snmpd EXITED 1"),
		down("E54", "a critical program was killed", managed{"snmpd", "snmpd", stExited, -1, "Bad exit code -1"}, "snmpd ended unexpectedly"),
		down("E54", "a program of a critical group exited unexpectedly", managed{"dhcp", "relay", stExited, 1, "Bad exit code 1"}, "relay ended unexpectedly", "dhcp:relay"),
		{id: "E54", name: "a program that is not critical exited unexpectedly", given: programIs(managed{"rsyslogd", "rsyslogd", stExited, 1, "Bad exit code 1"})},
		down("E56", "a critical program is FATAL", managed{"snmpd", "snmpd", stFatal, 0, "Exited too quickly (process log may have details)"}, "snmpd cannot be kept running", "Exited too quickly"),
		{id: "E57", name: "a critical program runs again", given: comesBack, check: countsBoth},
		{id: "E59", name: "the file of critical programs has blank lines only", given: critical("\n \n\n"), check: notes("supervisor", "no critical program")},
		{id: "E59", name: "the file of critical programs is empty", given: critical(""), check: notes("supervisor", "no critical program")},
		{id: "E56", name: "a critical program is unknown to supervisord", given: critical("program:snmpd\nprogram:missing\n"),
			ready: sonicVerdict{0, "CriticalProgramUnknown", []string{"missing"}}},
	}
}

// comesBack lets a critical program end unexpectedly, and run again.
func comesBack(t *testing.T, l *sonicLab) {
	t.Helper()
	l.before = l.transitions(t, "alive")
	l.supervisord.set(managed{"snmpd", "snmpd", stFatal, 0, ""})
	l.await(t, "alive", sonicVerdict{112, "CriticalProgramDown", nil})
	l.supervisord.set(managed{"snmpd", "snmpd", stRunning, 0, ""})
}

// countsBoth checks that both changes of the state were counted.
func countsBoth(t *testing.T, l *sonicLab) {
	t.Helper()
	if n := l.transitions(t, "alive") - l.before; n != 2 {
		t.Errorf("alive has changed %d times, want 2", n)
	}
}

// critical replaces the file of critical programs.
func critical(text string) func(*testing.T, *sonicLab) {
	return func(t *testing.T, l *sonicLab) {
		t.Helper()
		writeFile(t, l.path("critical_processes"), text)
	}
}

// notes checks that a collector notes some words.
func notes(collector, words string) func(*testing.T, *sonicLab) {
	return func(t *testing.T, l *sonicLab) {
		t.Helper()
		soon(t, func() string {
			if note := l.note(collector); !strings.Contains(note, words) {
				return fmt.Sprintf("%s notes %q, want %q in it", collector, note, words)
			}
			return ""
		})
	}
}

func TestSonicCriticalPrograms(t *testing.T) {
	t.Parallel()
	startSonicLab(t, nil).runCases(t, sonicCriticalCases())
}

// sonicNoRestartCases are those with --set auto_restart=disabled.
func sonicNoRestartCases() []sonicCase {
	down := func(words ...string) sonicVerdict { return sonicVerdict{112, "CriticalProgramDown", words} }
	shown := sonicVerdict{0, "CriticalProgramDown", []string{"alive does not depend on it"}}
	return []sonicCase{
		{id: "E55", name: "a critical program exited unexpectedly, with `auto_restart=disabled`", ready: down("snmpd ended unexpectedly"), alive: shown,
			given: func(t *testing.T, l *sonicLab) {
				l.before = l.transitions(t, "ready")
				l.supervisord.set(managed{"snmpd", "snmpd", stExited, 1, "Bad exit code 1"})
			}, check: loggedOnce},
		{id: "E56", name: "a critical program is FATAL, with `auto_restart=disabled`", ready: down("snmpd cannot be kept running"), alive: shown,
			given: programIs(managed{"snmpd", "snmpd", stFatal, 0, ""})},
	}
}

// sonicShownCases are those with --set critical_programs=show.
func sonicShownCases() []sonicCase {
	shown := sonicVerdict{0, "CriticalProgramDown", []string{"alive does not depend on it"}}
	return []sonicCase{
		{id: "E54", name: "a critical program exited unexpectedly, with `critical_programs=show`", alive: shown,
			given: programIs(managed{"snmpd", "snmpd", stExited, 1, "Bad exit code 1"})},
		{id: "E56", name: "a critical program is FATAL, with `critical_programs=show`", alive: shown,
			given: programIs(managed{"snmpd", "snmpd", stFatal, 0, ""})},
		{id: "E39", name: "start is RUNNING and a critical program is FATAL, with `critical_programs=show`", alive: shown,
			ready: sonicVerdict{2, "StartNotFinished", []string{"is running"}}, given: func(_ *testing.T, l *sonicLab) {
				l.supervisord.set(managed{"snmpd", "snmpd", stFatal, 0, ""})
				l.supervisord.set(managed{"start", "start", stRunning, 0, ""})
			}},
	}
}

// loggedOnce checks that the log has one line for each change of the state, however many
// rounds there were since. On a machine that is not busy that is one.
func loggedOnce(t *testing.T, l *sonicLab) {
	t.Helper()
	before := l.daemon.eval.Snapshot().Generation
	soon(t, func() string {
		if now := l.daemon.eval.Snapshot().Generation; now < before+10 {
			return fmt.Sprintf("%d evaluations, want ten more", now-before)
		}
		return ""
	})
	want := (l.transitions(t, "ready") - l.before + 1) / 2
	lines := uint64(0)
	for line := range strings.Lines(l.log.String()) {
		if strings.Contains(line, `msg="state failing" state=ready`) && strings.Contains(line, "CriticalProgramDown") {
			lines++
		}
	}
	if lines != want {
		t.Errorf("%d lines of the log have it, want %d:\n%s", lines, want, l.log)
	}
	if st, ok := l.daemon.eval.Snapshot().State("ready", l.daemon.eval.Snapshot().At); !ok || st.Since.IsZero() {
		t.Errorf("since when ready fails is %v, want it known", st.Since)
	}
}

func TestSonicWithoutRestarts(t *testing.T) {
	t.Parallel()
	startSonicLab(t, map[string]string{"auto_restart": "disabled"}).runCases(t, sonicNoRestartCases())
}

// Readiness as SONiC's document defines it: start and the hook, and no critical programs.
func TestSonicReadinessWithoutCriticalPrograms(t *testing.T) {
	t.Parallel()
	startSonicLab(t, map[string]string{"critical_programs": "show"}).runCases(t, sonicShownCases())
}
