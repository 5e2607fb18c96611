package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/supervisorevents"
)

// What --on-failing can be.
const (
	onFailingLog       = "log"
	onFailingTerminate = "terminate"
)

// askPause is the least time between two looks at alive, because patience counts looks:
// ticks come every five seconds, late by less than one, and those that waited come at once.
const askPause = 4 * time.Second

// listener is an event listener of supervisord. Its methods are called one at a time.
type listener struct {
	socket    string
	timeout   time.Duration
	onFailing string
	patience  int
	logger    *slog.Logger
	// terminate ends supervisord.
	terminate func() error

	client http.Client
	// refused is why the last report of a process was not taken, by the process' name.
	refused map[string]string
	// asked is when alive was last asked for, and failed how often in a row it failed.
	asked  time.Time
	failed int
	// silent is why the last ask had no verdict; empty after one that had.
	silent string
}

// listenerCommand declares the command and its flags.
func (p *program) listenerCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("supervisor-listener", "Be an event listener of supervisord: what programs say between its tags becomes reports of components, and a state alive that goes on failing is logged or ends supervisord. To be started by supervisord, from a section eventlistener.")
	l := &listener{}
	cmd.Flag("socket", "The Unix socket of vitals run.").Default(defaultSocket).StringVar(&l.socket)
	cmd.Flag("timeout", "How long a report, or a look at alive, may take.").Default("900ms").DurationVar(&l.timeout)
	cmd.Flag("on-failing", "What to do when alive fails: log, or terminate supervisord, and with it all that it runs.").Default(onFailingLog).EnumVar(&l.onFailing, onFailingLog, onFailingTerminate)
	cmd.Flag("patience", "How many looks in a row have to fail before that; looks are at TICK_5 events, so there is one every 5 seconds.").Default("3").IntVar(&l.patience)
	cmd.Action(do(func() int {
		l.logger = p.logger()
		return p.runListener(l, os.Stdin)
	}))
}

// runListener listens until supervisord closes stdin. It writes to stdout what the
// protocol wants and nothing else.
func (p *program) runListener(l *listener, stdin io.Reader) int {
	switch {
	case os.Getenv("SUPERVISOR_ENABLED") == "":
		return p.fail(errNoSupervisor)
	case l.patience < 1:
		return p.fail(errPatience)
	case l.timeout <= 0:
		return p.fail(errListenerTimeout)
	}
	// A supervisord that is gone closes stdin as well, which ends the program in good order.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	parent := os.Getppid()
	l.terminate = func() error { return terminateParent(parent) }
	if err := l.listen(stdin, p.stdout); err != nil {
		l.logger.Error("listen to supervisord", "err", err)
		return exitFailing
	}
	return exitOK
}

// terminateParent ends the process that started this one, unless that is gone.
func terminateParent(parent int) error {
	if os.Getppid() != parent {
		return errOrphan
	}
	return syscall.Kill(parent, syscall.SIGTERM)
}

// listen hands every event on, until supervisord closes its end.
func (l *listener) listen(in io.Reader, out io.Writer) error {
	l.refused = map[string]string{}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", l.socket)
	}}
	l.client = http.Client{Transport: transport}
	protocol := supervisorevents.Listener{
		Handle: func(e supervisorevents.Event) { l.take(time.Now(), e) },
		Disturbed: func(err error) {
			if err != nil {
				l.logger.Warn("supervisord's events are not understood", "err", err)
				return
			}
			l.logger.Info("supervisord's events are understood again")
		},
	}
	counts, err := protocol.Listen(in, out)
	l.logger.Info("supervisord has closed its end", "events", counts.Events, "protocol_errors", counts.Errors)
	return err
}

// take does what an event asks for.
func (l *listener) take(at time.Time, e supervisorevents.Event) {
	switch {
	case strings.HasPrefix(e.Name, "PROCESS_COMMUNICATION"):
		l.report(e.Field("processname"))
	case e.Name == "TICK_5":
		if at.Sub(l.asked) >= askPause {
			l.asked = at
			l.judge(execprobe.Query(l.socket, "alive", at.Add(l.timeout)))
		}
	}
}
