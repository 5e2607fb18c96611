package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// notifyTimeout bounds one message: a service manager that hangs holds nothing up.
	notifyTimeout = time.Second
	// maxNotifyStatus is how long a status may be in bytes: it is one line of systemctl.
	maxNotifyStatus = 300
)

// verdicts is what a notifier looks at.
type verdicts interface {
	Snapshot() *evaluator.Snapshot
	Changed() <-chan struct{}
}

// notifier tells the service manager that started the process how it is: sd_notify(3).
// A nil one tells nobody.
type notifier struct {
	socket string
	// watchdog is how long systemd waits for a heartbeat; zero where it does not.
	watchdog time.Duration
	logger   *slog.Logger

	ready   atomic.Bool
	unheard atomic.Bool // the last message could not be sent
}

// newNotifier reads what systemd has put into the environment; nil where it did not.
func newNotifier(logger *slog.Logger) *notifier {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	watchdog, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("no heartbeat for the service manager", "err", err)
	}
	return &notifier{socket: socket, watchdog: watchdog, logger: logger}
}

// run says when the process is ready, which is once all collectors have finished and the
// rules have been evaluated; what the verdicts are, when they change; and, at half of the
// watchdog's time, that verdicts are still reached. It returns when ctx ends.
func (n *notifier) run(ctx context.Context, v verdicts) {
	if n == nil {
		return
	}
	var beat <-chan time.Time
	if n.watchdog > 0 {
		ticker := time.NewTicker(n.watchdog / 2)
		defer ticker.Stop()
		beat = ticker.C
	}
	status := ""
	for {
		changed := v.Changed()
		snap, now := v.Snapshot(), time.Now()
		var lines []string
		text := statusLine(snap, now)
		if text != status {
			lines = append(lines, "STATUS="+text)
		}
		started, ok := snap.State(evaluator.Started, now)
		ready := ok && started.Verdict != evaluator.Fail
		if ready && !n.ready.Load() {
			lines = append(lines, systemd.SdNotifyReady)
		}
		if n.send(lines...) { // and else once more, later
			status = text
			n.ready.Store(ready || n.ready.Load())
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-beat:
			if !v.Snapshot().Stalled(time.Now()) {
				n.send(systemd.SdNotifyWatchdog)
			}
		}
	}
}

// reloading says that the configuration is loaded again, and the function that it returns
// that this is over. Before the process is ready there is nothing to say.
func (n *notifier) reloading() (done func()) {
	if n == nil || !n.ready.Load() {
		return func() {}
	}
	var since unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &since); err == nil {
		// Type=notify-reload wants the time, to tell this reload from an earlier one.
		n.send(systemd.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", since.Nano()/int64(time.Microsecond)))
	}
	return func() { n.send(systemd.SdNotifyReady) }
}

// stopping says that the process is about to end.
func (n *notifier) stopping() {
	if n != nil {
		n.send(systemd.SdNotifyStopping)
	}
}

// send sends one message of one line or more, or nothing. It returns false if it was not
// heard. It is safe for concurrent use.
func (n *notifier) send(lines ...string) (heard bool) {
	if len(lines) == 0 {
		return true
	}
	err := n.write(strings.Join(lines, "\n"))
	if n.unheard.Swap(err != nil) != (err != nil) && err != nil {
		n.logger.Warn("the service manager is not told", "err", err)
	}
	return err == nil
}

func (n *notifier) write(message string) error {
	conn, err := net.DialTimeout("unixgram", n.socket, notifyTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(notifyTimeout))
	_, err = conn.Write([]byte(message))
	return err
}

// statusLine says what the verdicts are, and which rules decide them. Values, which
// change all the time, are left out.
func statusLine(snap *evaluator.Snapshot, now time.Time) string {
	var states []string
	for _, st := range snap.States {
		if st.Name == evaluator.Started {
			continue
		}
		st, _ := snap.State(st.Name, now)
		text := st.Name + " " + st.Verdict.String()
		var why []string
		if st.Reason != "" {
			why = append(why, st.Reason)
		}
		for _, i := range st.Deciding {
			why = append(why, snap.Rules[i].Name)
		}
		if st.Verdict != evaluator.Pass && len(why) > 0 {
			text += " (" + strings.Join(why, ", ") + ")"
		}
		states = append(states, text)
	}
	return text.Line(strings.Join(states, ", "), maxNotifyStatus)
}
