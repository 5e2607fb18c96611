package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// upgrade is the post-check of an upgrade: it polls until the container is ready, or gives
// up.
type upgrade struct {
	out, progress lines
	code          chan int
}

func (l *sonicLab) upgrade(timeout time.Duration) *upgrade {
	u := &upgrade{code: make(chan int, 1)}
	go func() {
		u.code <- run([]string{
			"wait", "ready", "--style=sonic", "--socket=" + l.socket, "--timeout=" + timeout.String(), "--interval=100ms",
		}, &u.out, &u.progress)
	}()
	return u
}

// SONiC's controller polls the probe after an upgrade, and falls back to the version before
// when that takes too long.
func TestSonicUpgrade(t *testing.T) {
	t.Parallel()
	l := startSonicLab(t, nil)
	t.Run("E51 not ready at first, then ready", func(t *testing.T) {
		l.await(t, "ready", sonicVerdict{})
		before := l.transitions(t, "ready")
		l.supervisord.set(managed{"start", "start", stRunning, 0, ""})
		l.await(t, "ready", startFails("is running"))
		u := l.upgrade(labPatience)
		waitFor := func(words string) {
			t.Helper()
			soon(t, func() string {
				if text := u.progress.String(); !strings.Contains(text, words) {
					return fmt.Sprintf("vitals wait printed %q, want %q in it", text, words)
				}
				return ""
			})
		}
		waitFor("failing 2 StartNotFinished")
		hook("exit 7", 0o755)(t, l)
		l.rounds(t, "hook", 2) // one may have begun before
		l.supervisord.set(managed{"start", "start", stExited, 0, ""})
		waitFor("failing 7 HookFailed")
		hook("exit 0", 0o755)(t, l)
		if code := <-u.code; code != 0 || !strings.HasPrefix(u.out.String(), "ok 0 ") {
			t.Errorf("vitals wait = %d %q, want 0 and ok", code, u.out.String())
		}
		if n := l.transitions(t, "ready") - before; n < 2 || n%2 != 0 {
			t.Errorf("ready has changed %d times, want that both ways were counted", n)
		}
	})
	t.Run("E52 never ready", func(t *testing.T) {
		hook("echo no route; exit 7", 0o755)(t, l)
		l.await(t, "ready", sonicVerdict{7, "HookFailed", nil})
		u := l.upgrade(3 * time.Second)
		if code := <-u.code; code != 7 || !strings.Contains(u.out.String(), "exit code 7: no route") {
			t.Errorf("vitals wait = %d %q, want 7 and the last reason", code, u.out.String())
		}
		if !strings.Contains(u.progress.String(), "gave up") {
			t.Errorf("vitals wait printed %q, want that it gave up", u.progress.String())
		}
	})
}
