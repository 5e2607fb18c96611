package sdnotify

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/evaluator/evaluatortest"
	"github.com/vitals-health/vitals/internal/sdnotify/sdnotifytest"
)

// A process without a service manager, or with the watchdog of another process, sends
// nothing.
func TestNotifyWithoutAManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	n := New(slog.New(slog.DiscardHandler))
	if n != nil {
		t.Errorf("newNotifier() without a socket = %+v, want nil", n)
	}
	n.Run(t.Context(), nil)
	n.Reloading()()
	n.Stopping()

	sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
	for name, env := range map[string][2]string{
		"no watchdog":              {"", ""},
		"the watchdog of a parent": {"1000000", "1"},
		"no number":                {"soon", ""},
		"no time":                  {"0", ""},
	} {
		t.Setenv("WATCHDOG_USEC", env[0])
		t.Setenv("WATCHDOG_PID", env[1])
		if n := New(slog.New(slog.DiscardHandler)); n == nil || n.watchdog != 0 {
			t.Errorf("%s: newNotifier() = %+v, want one without heartbeats", name, n)
		}
	}
}

// stageSnapshot is a snapshot as it is at the time, whose evaluator may rest for maxAge.
func stageSnapshot(at time.Time, maxAge time.Duration, started, ready evaluator.Verdict) *evaluator.Snapshot {
	return &evaluator.Snapshot{At: at, MaxAge: maxAge, States: []evaluator.State{
		{Name: evaluator.Ready, Verdict: ready}, {Name: evaluator.Alive, Verdict: evaluator.Pass}, {Name: evaluator.Started, Verdict: started},
	}}
}

// runNotifier runs a notifier with a short watchdog until the test ends.
func runNotifier(t *testing.T, v verdicts) *Notifier {
	t.Helper()
	t.Setenv("WATCHDOG_USEC", "40000")
	n := New(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Run(ctx, v)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return n
}

// The heartbeat is that of the evaluator, not of the process: systemd ends one whose
// verdicts are old.
func TestNotifyStalledEvaluator(t *testing.T) {
	m := sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
	stage := evaluatortest.NewStage(stageSnapshot(time.Now(), time.Hour, evaluator.Pass, evaluator.Pass))
	runNotifier(t, stage)
	m.Want("STATUS=ready ok, alive ok\nREADY=1")
	m.AwaitHeartbeat()
	stalled := stageSnapshot(time.Now().Add(-time.Minute), time.Second, evaluator.Pass, evaluator.Pass)
	stalled.AliveMaxAge = time.Hour
	stage.Publish(stalled)
	m.Want(`STATUS=ready failing \(evaluator stalled\), alive ok`)
	if got := m.Next(400 * time.Millisecond); got != "" { // 20 heartbeats
		t.Errorf("message of a stalled evaluator while alive passes = %q, want none", got)
	}
	stage.Publish(stageSnapshot(time.Now().Add(-time.Minute), time.Second, evaluator.Pass, evaluator.Pass))
	m.Want(`STATUS=ready failing \(evaluator stalled\), alive failing \(evaluator stalled\)`)
	if got := m.Next(400 * time.Millisecond); got != "" { // 20 heartbeats
		t.Errorf("message of a stalled evaluator = %q, want none", got)
	}
	stage.Publish(stageSnapshot(time.Now(), time.Hour, evaluator.Pass, evaluator.Pass))
	m.Want("STATUS=ready ok, alive ok")
	m.AwaitHeartbeat()
}

// A lost message is sent again: systemd would end a process that never reports that it is
// ready.
func TestNotifyLostMessage(t *testing.T) {
	socket := filepath.Join(collectortest.Dir(t), "notify")
	t.Setenv("NOTIFY_SOCKET", socket)
	stage := evaluatortest.NewStage(stageSnapshot(time.Now(), time.Hour, evaluator.Pass, evaluator.Pass))
	n := runNotifier(t, stage)
	collectortest.Wait(t, "a lost message", n.failed.Load)
	if n.ready.Load() {
		t.Error("the notifier is ready although the message was lost")
	}
	m := sdnotifytest.Listen(t, socket)
	stage.Publish(stageSnapshot(time.Now(), time.Hour, evaluator.Pass, evaluator.Pass))
	m.Want("STATUS=ready ok, alive ok\nREADY=1")
}

// A reload before the process is ready is not reported: its end would send READY=1.
func TestNotifyReadyOnce(t *testing.T) {
	m := sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
	stage := evaluatortest.NewStage(stageSnapshot(time.Now(), time.Hour, evaluator.Fail, evaluator.Fail))
	n := runNotifier(t, stage)
	m.Want("STATUS=ready failing, alive ok")
	n.Reloading()()
	stage.Publish(stageSnapshot(time.Now(), time.Hour, evaluator.Pass, evaluator.Fail))
	m.Want("READY=1")
	stage.Publish(stageSnapshot(time.Now(), time.Hour, evaluator.Fail, evaluator.Fail))
	stage.Publish(stageSnapshot(time.Now(), time.Hour, evaluator.Pass, evaluator.Warn))
	m.Want("STATUS=ready warning, alive ok")
}

// The socket may be an abstract one, hang, or be gone: nothing waits for it for long.
func TestNotifySockets(t *testing.T) {
	t.Run("abstract", func(t *testing.T) {
		m := sdnotifytest.Listen(t, "@vitals-test-"+filepath.Base(collectortest.Dir(t)))
		New(slog.New(slog.DiscardHandler)).send("A=1", "B=2")
		m.Want("A=1\nB=2")
	})
	t.Run("hangs", func(t *testing.T) {
		sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
		n := New(slog.New(slog.DiscardHandler))
		for i := 0; i < 10_000 && !n.failed.Load(); i++ { // until the queue is full, and the last message given up
			n.send("STATUS=" + strings.Repeat("x", 4000))
		}
		if !n.failed.Load() {
			t.Error("10,000 messages to a socket without a reader were sent, want the queue to be full")
		}
	})
	t.Run("gone", func(t *testing.T) {
		m := sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
		n := New(slog.New(slog.DiscardHandler))
		m.Close()
		if n.send("A=1"); !n.failed.Load() {
			t.Error("send() to a removed socket succeeded, want it to fail")
		}
	})
}

func TestNotifyStatus(t *testing.T) {
	snap := stageSnapshot(time.Now(), time.Hour, evaluator.Pass, evaluator.Fail)
	for i := range 100 {
		snap.Rules = append(snap.Rules, evaluator.Rule{Name: strings.Repeat("R", 3+i%2)})
	}
	for _, tt := range []struct {
		name  string
		state evaluator.State
		want  string
	}{
		{"rules", evaluator.State{Name: evaluator.Ready, Verdict: evaluator.Fail, Deciding: []int{0, 1}}, "ready unknown (RRR, RRRR), alive ok"},
		{"warning", evaluator.State{Name: evaluator.Ready, Verdict: evaluator.Warn, Deciding: []int{1}}, "ready warning (RRRR), alive ok"},
		{"reason", evaluator.State{Name: evaluator.Ready, Verdict: evaluator.Fail, Reason: "no rules"}, "ready failing (no rules), alive ok"},
	} {
		snap.States[0] = tt.state
		if got := statusLine(snap, time.Now()); got != tt.want {
			t.Errorf("%s: statusLine() = %q, want %q", tt.name, got, tt.want)
		}
	}
	snap.States[0].Deciding = slices.Collect(func(yield func(int) bool) {
		for i := range snap.Rules {
			if !yield(i) {
				return
			}
		}
	})
	if got := statusLine(snap, time.Now()); len(got) != maxNotifyStatus || !strings.HasSuffix(got, "...") {
		t.Errorf("statusLine() of 100 rules = %q, %d bytes, want it cut at %d", got, len(got), maxNotifyStatus)
	}
}
