package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/listen"
	"github.com/vitals-health/vitals/internal/supervisorlistener"
)

// listenerCommand declares the command and its flags.
func (p *program) listenerCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("supervisor-listener", "Run as an event listener of supervisord: output of programs between its communication tags becomes reports of components, and a state alive that keeps failing is logged or terminates supervisord. supervisord starts it, from a section eventlistener.")
	l := &supervisorlistener.Listener{}
	cmd.Flag("socket", "The Unix socket of vitals run.").Default(listen.DefaultSocket).StringVar(&l.Socket)
	cmd.Flag("timeout", "How long a report, or a query of alive, may take.").Default("900ms").DurationVar(&l.Timeout)
	cmd.Flag("on-failing", "What to do when alive fails: log, or terminate supervisord and with it all its programs.").Default(supervisorlistener.Log).EnumVar(&l.OnFailing, supervisorlistener.Log, supervisorlistener.Terminate)
	cmd.Flag("patience", "How many consecutive queries have to fail before that. Queries follow TICK_5 events: one every 5 seconds.").Default("3").IntVar(&l.Patience)
	cmd.Action(do(func() int {
		l.Logger = p.logger()
		return p.runListener(l, os.Stdin)
	}))
}

// runListener listens until supervisord closes stdin. It writes to stdout what the
// protocol requires and nothing else.
func (p *program) runListener(l *supervisorlistener.Listener, stdin io.Reader) int {
	if err := l.Validate(); err != nil {
		return p.fail(err)
	}
	// supervisord closes stdin when it ends, which ends this program without an error.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	if err := l.Listen(stdin, p.stdout); err != nil {
		l.Logger.Error("listen to supervisord", "err", err)
		return exitFailing
	}
	return exitOK
}
