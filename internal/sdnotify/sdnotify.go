package sdnotify

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
	// notifyTimeout bounds one message, so that a service manager that hangs blocks nothing.
	notifyTimeout = time.Second
	// maxNotifyStatus is the maximum length of a status in bytes: systemctl shows one line.
	maxNotifyStatus = 300
)

// verdicts is the source of the snapshots.
type verdicts interface {
	Snapshot() *evaluator.Snapshot
	Changed() <-chan struct{}
}

// Notifier reports the state of the process to the service manager that started it:
// sd_notify(3). A nil Notifier does nothing.
type Notifier struct {
	socket string
	// watchdog is systemd's timeout for heartbeats; zero for none.
	watchdog time.Duration
	logger   *slog.Logger

	ready  atomic.Bool
	failed atomic.Bool // the last message could not be sent
}

// New returns a notifier for the socket that systemd names in the environment, or nil.
func New(logger *slog.Logger) *Notifier {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	watchdog, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("heartbeats to the service manager are disabled", "err", err)
	}
	return &Notifier{socket: socket, watchdog: watchdog, logger: logger}
}

// Run reports that the process is ready, which is after all collectors have finished and
// the rules have been evaluated. It reports the verdicts when they change. Every half of
// the watchdog's timeout it sends a heartbeat, unless the evaluator is stalled. It returns
// when ctx ends.
func (n *Notifier) Run(ctx context.Context, v verdicts) {
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
		if n.send(lines...) { // else it is sent again later
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

// Reloading reports the begin of a reload. The function that it returns reports the end.
// Before the process is ready, both do nothing.
func (n *Notifier) Reloading() (done func()) {
	if n == nil || !n.ready.Load() {
		return func() {}
	}
	var since unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &since); err == nil {
		// Type=notify-reload requires the time, which identifies the reload.
		n.send(systemd.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", since.Nano()/int64(time.Microsecond)))
	}
	return func() { n.send(systemd.SdNotifyReady) }
}

// Stopping reports that the process is about to end.
func (n *Notifier) Stopping() {
	if n != nil {
		n.send(systemd.SdNotifyStopping)
	}
}

// send sends the lines as one message; no lines send nothing. It reports whether the
// message was sent. It is safe for concurrent use.
func (n *Notifier) send(lines ...string) (sent bool) {
	if len(lines) == 0 {
		return true
	}
	err := n.write(strings.Join(lines, "\n"))
	if n.failed.Swap(err != nil) != (err != nil) && err != nil {
		n.logger.Warn("cannot notify the service manager", "err", err)
	}
	return err == nil
}

func (n *Notifier) write(message string) error {
	conn, err := net.DialTimeout("unixgram", n.socket, notifyTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(notifyTimeout))
	_, err = conn.Write([]byte(message))
	return err
}

// statusLine returns the verdicts and the rules that decide them. It has no values, which
// change with every evaluation.
func statusLine(snap *evaluator.Snapshot, now time.Time) string {
	var states []string
	for _, st := range snap.States {
		if st.Name == evaluator.Started {
			continue
		}
		st, _ := snap.State(st.Name, now)
		text := st.Name + " " + snap.Word(&st)
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
