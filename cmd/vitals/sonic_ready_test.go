package main

import (
	"fmt"
	"os"
	"testing"
)

// startFails is the verdict for a start program that has not finished.
func startFails(words ...string) sonicVerdict {
	return sonicVerdict{2, "StartNotFinished", words}
}

// unreachable is the verdict for a supervisord without an answer, for a reason.
func unreachable(reason string) sonicVerdict {
	return sonicVerdict{110, "SupervisorUnreachable", []string{reason}}
}

// sonicStartCases are about the start program.
func sonicStartCases() []sonicCase {
	start := func(state, exit int, spawnErr string) func(*testing.T, *sonicLab) {
		return programIs(managed{"start", "start", state, exit, spawnErr})
	}
	grouped := func(state, exit int) func(*testing.T, *sonicLab) {
		return programIs(managed{"grp", "start", state, exit, ""})
	}
	return []sonicCase{
		{id: "E36", name: "start exited with 0, no hook", given: start(stExited, 0, ""), ready: sonicVerdict{words: []string{"start EXITED 0", "there is no "}}},
		{id: "E37", name: "start exited with 3", given: start(stExited, 3, "Bad exit code 3"), ready: startFails("ended with status 3", "start EXITED 3 (Bad exit code 3)")},
		{id: "E38", name: "start was killed by a signal", given: start(stExited, -1, "Bad exit code -1"), ready: startFails("was ended by a signal", "start EXITED -1")},
		{id: "E39", name: "start is RUNNING", given: start(stRunning, 0, ""), ready: startFails("is running")},
		{id: "E39", name: "start is STARTING", given: start(stStarting, 0, ""), ready: startFails("is starting")},
		{id: "E39", name: "start is in BACKOFF", given: start(stBackoff, 0, "Exited too quickly (process log may have details)"), ready: startFails("is backoff", "Exited too quickly")},
		{id: "E39", name: "start is STOPPED", given: start(stStopped, 0, ""), ready: startFails("is stopped")},
		{id: "E40", name: "start is FATAL", given: start(stFatal, 0, "can't find command '/no'"), ready: startFails("is fatal", "can't find command")},
		{id: "E41", name: "there is no program start", ready: sonicVerdict{words: []string{"no program start"}},
			given: func(_ *testing.T, l *sonicLab) {
				l.supervisord.change(func() { l.supervisord.programs = l.supervisord.programs[1:] })
			}},
		{id: "E42", name: "start in a group exited with 0", given: grouped(stExited, 0), ready: sonicVerdict{words: []string{"grp:start EXITED 0"}}},
		{id: "E42", name: "start in a group exited with 3", given: grouped(stExited, 3), ready: startFails("ended with status 3", "grp:start")},
		{id: "E42", name: "start in a group runs", given: grouped(stRunning, 0), ready: startFails("is running")},
	}
}

// sonicSupervisorCases are about a supervisord that does not report its programs.
func sonicSupervisorCases() []sonicCase {
	change := func(f func(*supervisord)) func(*testing.T, *sonicLab) {
		return func(_ *testing.T, l *sonicLab) { l.supervisord.change(func() { f(l.supervisord) }) }
	}
	stopping := func(words ...string) sonicVerdict { return sonicVerdict{2, "SupervisorStopping", words} }
	return []sonicCase{
		{id: "E43", name: "supervisord's socket is missing", ready: unreachable("missing"), given: movedSocket},
		{id: "E43", name: "no process listens on supervisord's socket", ready: unreachable("refused"), given: deadSocket},
		{id: "E43", name: "supervisord answers 500", ready: unreachable("protocol"), given: change(func(s *supervisord) { s.status = 500 })},
		{id: "E43", name: "supervisord wants a password", ready: sonicVerdict{111, "SupervisorForbidden", []string{"password"}}, given: change(func(s *supervisord) { s.status = 401 })},
		{id: "E43", name: "supervisord refuses", ready: sonicVerdict{111, "SupervisorForbidden", []string{"forbidden (status 403)"}}, given: change(func(s *supervisord) { s.status = 403 })},
		{id: "E44", name: "supervisord is in SHUTDOWN", ready: stopping("SHUTDOWN"), given: change(func(s *supervisord) { s.state = -1 })},
		{id: "E44", name: "supervisord is in RESTARTING", ready: stopping("RESTARTING"), given: change(func(s *supervisord) { s.state = 0 })},
		{id: "E44", name: "supervisord answers with the fault SHUTDOWN_STATE", ready: stopping("shutting down"), given: change(func(s *supervisord) { s.fault = 6 })},
		{id: "E67", name: "supervisord hangs", ready: unreachable("timeout"), given: change(func(s *supervisord) { s.hangs = true })},
	}
}

// movedSocket takes supervisord's socket away until all faults are removed.
func movedSocket(t *testing.T, l *sonicLab) {
	t.Helper()
	if err := os.Rename(l.supervisord.socket, l.path("away")); err != nil {
		t.Fatal(err)
	}
}

// deadSocket replaces the socket of supervisord by one without a listener.
func deadSocket(t *testing.T, l *sonicLab) {
	t.Helper()
	movedSocket(t, l)
	leaveSocket(t, l.supervisord.socket)
}

// sonicHookCases are about the hook.
func sonicHookCases() []sonicCase {
	failed := func(code int, words ...string) sonicVerdict { return sonicVerdict{code, "HookFailed", words} }
	broken := func(words ...string) sonicVerdict { return sonicVerdict{115, "HookCannotRun", words} }
	outside := func(words ...string) sonicVerdict { return sonicVerdict{118, "HookCodeOutOfRange", words} }
	reserved := func(code int, words ...string) sonicVerdict { return sonicVerdict{code, "HookReserved", words} }
	return []sonicCase{
		{id: "E45", name: "hook exits with 0", given: hook("echo all routes are there", 0o755), ready: sonicVerdict{words: []string{"all routes are there"}}},
		{id: "E45", name: "hook exits with 7", given: hook("echo no route; exit 7", 0o755), ready: failed(7, "exit code 7: no route")},
		{id: "E45", name: "hook exits with 109", given: hook("exit 109", 0o755), ready: failed(109)},
		{id: "E46", name: "hook exits with 1", given: hook("echo \"KeyError: 'x'\" >&2; exit 1", 0o755), ready: reserved(1, "reserved", "KeyError")},
		{id: "E46", name: "hook exits with 2", given: hook("exit 2", 0o755), ready: reserved(2, "reserved")},
		{id: "E47", name: "hook is killed by signal 9", given: hook("kill -9 $$", 0o755), ready: sonicVerdict{114, "HookCrashed", []string{"signal 9"}}},
		{id: "E48", name: "hook's interpreter is missing", given: hook("#!/no/such/python\n", 0o755), ready: broken("interpreter", "/no/such/python")},
		{id: "E48", name: "hook is a directory", ready: broken("it is a directory"), given: func(t *testing.T, l *sonicLab) {
			if err := os.Mkdir(l.path("hook"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{id: "E48", name: "a command of the hook is missing", given: hook("exec /no/such/command", 0o755), ready: outside("127", "not found")},
		{id: "E48", name: "a command of the hook is not executable", given: hook("exec /etc/passwd", 0o755), ready: outside("126")},
		{id: "E47", name: "a command of the hook is killed by signal 9", given: hook("sh -c 'kill -9 $$'; exit $?", 0o755), ready: outside("137", "signal 9")},
		{id: "E45", name: "hook exits with 110", given: hook("exit 110", 0o755), ready: outside("110: expected 0, or 3 to 109")},
		{id: "E49", name: "hook is not executable", given: hook("exit 7", 0o644), ready: sonicVerdict{0, "HookNotExecutable", []string{"is skipped"}}, check: skipped},
		{id: "E50", name: "hook hangs", given: hook("trap '' TERM; sleep 1000 & sleep 1000", 0o755), ready: sonicVerdict{117, "HookTimeout", []string{"killed"}}},
		{id: "E39", name: "start is RUNNING and the hook exits with 7", ready: startFails("is running"), given: func(t *testing.T, l *sonicLab) {
			hook("exit 7", 0o755)(t, l)
			l.supervisord.set(managed{"start", "start", stRunning, 0, ""})
		}},
	}
}

// skipped waits for the gauge of a hook that is not executable.
func skipped(t *testing.T, l *sonicLab) {
	t.Helper()
	soon(t, func() string {
		if v, ok := l.sample("vitals_script_failure", "script", "hook", "reason", "not_executable"); v != 1 || !ok {
			return fmt.Sprintf("vitals_script_failure = %v, %t, want 1", v, ok)
		}
		return ""
	})
}

func TestSonicStart(t *testing.T) {
	t.Parallel()
	startSonicLab(t, nil).runCases(t, sonicStartCases())
}

func TestSonicSupervisor(t *testing.T) {
	t.Parallel()
	startSonicLab(t, nil).runCases(t, sonicSupervisorCases())
}

func TestSonicHook(t *testing.T) {
	t.Parallel()
	startSonicLab(t, nil).runCases(t, sonicHookCases())
}

// sonicRefusedCases are those with --set hook_not_executable=fail.
func sonicRefusedCases() []sonicCase {
	return []sonicCase{
		{id: "E49", name: "hook is not executable, with `hook_not_executable=fail`", given: hook("exit 7", 0o644), ready: sonicVerdict{116, "HookNotExecutable", []string{"not executable"}}, check: skipped},
		{id: "E36", name: "start exited with 0, no hook, with `hook_not_executable=fail`", given: hook("exit 0", 0o755)},
	}
}

func TestSonicHookRefused(t *testing.T) {
	t.Parallel()
	startSonicLab(t, map[string]string{"hook_not_executable": "fail"}).runCases(t, sonicRefusedCases())
}
