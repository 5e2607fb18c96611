package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/listen"
	"github.com/vitals-health/vitals/internal/memlimit"
	"github.com/vitals-health/vitals/internal/tasks"
)

// stopTimeout bounds how long the daemon waits for its goroutines when it ends. The evaluator
// gives a collector 1 s.
const stopTimeout = 3 * time.Second

// serve listens, runs the evaluator and waits for SIGTERM or SIGINT. Then ready fails,
// and after the shutdown delay everything stops. A second signal skips the delay.
func (d *daemon) serve(p *program, extra map[string]http.Handler) int {
	// First, because SIGHUP may arrive as soon as the process is visible.
	signals := notifySignals()
	defer signals.end()
	memlimit.Apply(d.logger)
	s, err := listen.Open(d.newServer(p, extra), listen.Options{Web: p.web, ProbeAddress: p.probeAddress, GRPCAddress: p.grpcAddress, Socket: p.socket, Memory: memoryToUse(), Logger: d.logger})
	if errors.Is(err, syscall.EADDRINUSE) && os.Getenv("MAKELEVEL") != "" {
		err = fmt.Errorf("%w, with make: make run ARGS=FLAG", err)
	}
	if err != nil {
		return p.fail(err)
	}
	defer s.Close()
	defer d.history.Close() // first: a stream would hold up the listeners
	d.listeners = s

	ctx, cancel := context.WithCancel(context.Background())
	running := tasks.New(d.logger)
	defer func() {
		cancel()
		running.Wait(stopTimeout)
	}()
	running.Start("evaluator", func() { d.eval.Run(ctx) })
	running.Start("watch of the configuration", func() { d.reloader.Watch(ctx, p.poll) })
	running.Start("reload", func() { d.reloadOn(ctx, signals.reload) })
	failed := s.Serve()
	if p.welcome != "" {
		fmt.Fprintf(p.stdout, p.welcome, "http://"+s.WebAddress())
	}
	s.Log()
	running.Start("journal of events", func() { d.journal.Run(ctx, d.history) })
	// After the listeners, as the checks of many rules take time.
	running.Start("check of the rules", func() { d.lint.Run(ctx) })
	running.Start("notifier", func() { d.notifier.Run(ctx, d.eval) })
	running.Start("reports to Kubernetes", func() { d.reporter.Run(ctx, d.eval, d.history) })
	running.Start("compared values", func() { explain.NewComparer(d.eval).Run(ctx, d.history.Compare) })
	running.Start("alerts to Alertmanager", func() { d.alertmanager.Run(ctx, d.eval) })
	running.Start("reaper", func() { d.orphans.Run(ctx) })
	select {
	case err := <-failed:
		d.logger.Error("listener ended", "err", err)
		return exitFailing
	case <-signals.stop:
		d.beginShutdown(running, p.terminationLog)
		d.lameDuck(p.shutdownDelay, signals.stop)
		return exitOK
	}
}

// beginShutdown makes ready fail, and records the verdicts of that moment.
func (d *daemon) beginShutdown(running *tasks.Tasks, terminationLog string) {
	d.notifier.Stopping() // before the status that follows
	verdicts := d.history.End(time.Now())
	running.Start("shutdown", d.eval.Shutdown)
	running.Start("last message", func() { d.lastMessage(terminationLog, verdicts) })
}

// reloadOn loads the configuration again at every signal until ctx ends.
func (d *daemon) reloadOn(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			_ = d.reloader.Reload() // logged, and in the snapshot
		}
	}
}

// lameDuck keeps serving with ready failing until the delay is over or a second signal
// to stop arrives.
func (d *daemon) lameDuck(delay time.Duration, stop <-chan os.Signal) {
	d.logger.Info("shutting down", "delay", delay)
	select {
	case <-time.After(delay):
	case <-stop:
	}
}
