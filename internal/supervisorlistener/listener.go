package supervisorlistener

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/supervisorevents"
)

// What --on-failing can be.
const (
	Log       = "log"
	Terminate = "terminate"
)

// minQueryInterval is the minimum time between two queries of alive, because patience
// counts queries. Ticks arrive every five seconds, less than a second late; ticks that
// waited in a queue arrive together and count as one.
const minQueryInterval = 4 * time.Second

// Listener is an event listener of supervisord. Its methods are called one at a time.
type Listener struct {
	// Socket is the path of the daemon's Unix socket.
	Socket string
	// Timeout bounds a report and a query.
	Timeout time.Duration
	// OnFailing is Log or Terminate.
	OnFailing string
	// Patience is the number of consecutive failures of alive before the listener acts.
	Patience int
	Logger   *slog.Logger
	// terminate terminates supervisord.
	terminate func() error

	client http.Client
	// refused holds why the last report of a process failed, by the name of the process;
	// empty for a report that succeeded.
	refused map[string]string
	// queried is the time of the last query of alive, failed the number of consecutive
	// failures.
	queried time.Time
	failed  int
	// noVerdict is why the last query returned no verdict; empty if it returned one.
	noVerdict string
}

// Validate returns an error for invalid options.
func (l *Listener) Validate() error {
	switch {
	case os.Getenv("SUPERVISOR_ENABLED") == "":
		return errNoSupervisor
	case l.Patience < 1:
		return errPatience
	case l.Timeout <= 0:
		return errListenerTimeout
	}
	return nil
}

// terminateParent terminates the process that started this one, unless it has ended.
func terminateParent(parent int) error {
	if os.Getppid() != parent {
		return errOrphan
	}
	return syscall.Kill(parent, syscall.SIGTERM)
}

// Listen handles events until supervisord closes in.
func (l *Listener) Listen(in io.Reader, out io.Writer) error {
	if l.terminate == nil {
		parent := os.Getppid()
		l.terminate = func() error { return terminateParent(parent) }
	}
	l.refused = map[string]string{}
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: execprobe.MaxAnswer, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", l.Socket)
	}}
	l.client = http.Client{Transport: transport}
	protocol := supervisorevents.Listener{
		Handle: func(e supervisorevents.Event) { l.take(time.Now(), e) },
		Disturbed: func(err error) {
			if err != nil {
				l.Logger.Warn("cannot parse events of supervisord", "err", err)
				return
			}
			l.Logger.Info("events of supervisord are valid again")
		},
	}
	counts, err := protocol.Listen(in, out)
	l.Logger.Info("supervisord closed the event stream", "events", counts.Events, "protocol_errors", counts.Errors)
	return err
}

// take handles one event.
func (l *Listener) take(at time.Time, e supervisorevents.Event) {
	switch {
	case strings.HasPrefix(e.Name, "PROCESS_COMMUNICATION"):
		l.report(e.Field("processname"))
	case e.Name == "TICK_5":
		if at.Sub(l.queried) >= minQueryInterval {
			l.queried = at
			l.count(execprobe.Query(l.Socket, "alive", at.Add(l.Timeout)))
		}
	}
}
