package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/common/version"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/reaper"
	"github.com/vitals-health/vitals/internal/server"
)

// load reads the configuration that the flags name. What is loaded is never nil.
func (p *program) load() (*loaded, []error) {
	switch {
	case p.configFile != "" && p.profile != "":
		return &loaded{sources: newSources()}, []error{fmt.Errorf("both --config.file=%s and --profile=%s are given: expected one of them", p.configFile, p.profile)}
	case p.profile != "":
		return p.loadProfile()
	case p.kuryrConf != "" || len(p.set) > 0:
		return &loaded{sources: newSources()}, []error{errors.New("--kuryr.conf and --set change a profile: expected --profile=NAME with them")}
	case p.configFile != "":
		return loadFile(p.configFile)
	}
	return &loaded{sources: newSources()}, []error{fmt.Errorf("no configuration: give --config.file=FILE, or --profile=NAME for a shipped one; \"vitals demo\" needs neither")}
}

// runDaemon is the command run.
func (p *program) runDaemon() int {
	logger := p.logger()
	l, errs := p.load()
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	if !p.listenGiven && l.cfg.Server.ListenAddress != "" {
		*p.web.WebListenAddresses = []string{l.cfg.Server.ListenAddress}
	}
	logger.Info("starting vitals", "version", version.Info())
	d, err := p.newDaemon(l, logger)
	if err != nil {
		return p.fail(err)
	}
	d.lint = &lintLog{logger: logger}
	d.lint.look(l)
	return d.serve(p, nil)
}

// daemon is everything that runs.
type daemon struct {
	logger *slog.Logger
	loaded atomic.Pointer[loaded]
	// components is the collector that takes reports; nil where none is configured.
	components atomic.Pointer[components.Collector]
	eval       *evaluator.Evaluator
	reloader   *reloader
	// notifier tells the service manager; nil where there is none.
	notifier *notifier
	// lint looks at the rules of each configuration; nil where nobody does.
	lint *lintLog
	// orphans waits for what becomes a child of this process, and is nobody's.
	orphans *reaper.Reaper
}

// newDaemon wires a loaded configuration. It starts nothing.
func (p *program) newDaemon(l *loaded, logger *slog.Logger) (*daemon, error) {
	d := &daemon{logger: logger, notifier: newNotifier(logger), orphans: reaper.New(reaper.Options{Logger: logger})}
	b := &builder{logger: logger, start: d.orphans.Start}
	cfg, commit, err := b.build(l)
	if err != nil {
		return nil, err
	}
	d.eval, err = evaluator.New(cfg, evaluator.Options{Logger: logger})
	if err != nil {
		return nil, err
	}
	commit()
	d.reloader = &reloader{load: p.load, builder: b, eval: d.eval, logger: logger, notifier: d.notifier, apply: func(l *loaded) { d.use(l, b) }}
	d.reloader.use(l)
	return d, nil
}

// use notes the configuration that has become the running one.
func (d *daemon) use(l *loaded, b *builder) {
	d.loaded.Store(l)
	var found *components.Collector
	for _, made := range b.built {
		if c, ok := made.collector.(*components.Collector); ok {
			found = c
		}
	}
	d.components.Store(found)
	if d.lint != nil {
		d.lint.look(l)
	}
}

// report hands a component's report to the collector that takes them.
func (d *daemon) report(name string, r collectors.Report) error {
	if c := d.components.Load(); c != nil {
		return c.Report(name, r)
	}
	return collectors.ErrUnknownComponent
}

// reports returns what the components said last.
func (d *daemon) reports() []server.ComponentStatus {
	c := d.components.Load()
	if c == nil {
		return nil
	}
	var all []server.ComponentStatus
	for _, s := range c.Status() {
		shown := server.ComponentStatus{Name: s.Name, Alive: s.Alive, Ready: s.Ready, Reason: s.Reason, LastReport: s.LastReport}
		for _, e := range s.Events {
			shown.Events = append(shown.Events, server.EventStatus(e))
		}
		all = append(all, shown)
	}
	return all
}

func (d *daemon) newServer(p *program, extra map[string]http.Handler) *server.Server {
	l := d.loaded.Load()
	opts := server.Options{
		Snapshot:      d.eval.Snapshot,
		Changed:       d.eval.Changed,
		Explain:       explain.New(d.eval).Explain,
		FailingStatus: l.cfg.Server.FailingStatus,
		Report:        d.report,
		Components:    d.reports,
		ReportToken:   l.cfg.Server.ComponentToken.Value(),
		Config:        func() []byte { return d.loaded.Load().redacted },
		Version:       version.Version,
		ExternalExtra: extra,
		Logger:        d.logger,
	}
	if p.lifecycle {
		opts.Reload = d.reloader.reload
	}
	return server.New(opts)
}

// serve listens, runs the evaluator and waits for the end: SIGTERM or SIGINT make
// ready fail, and after the shutdown delay everything stops. A second signal does
// not wait.
func (d *daemon) serve(p *program, extra map[string]http.Handler) int {
	// Before anything can be seen of the process: who sees it may send SIGHUP.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	s, err := p.listen(d.newServer(p, extra), d.logger)
	if err != nil {
		return p.fail(err)
	}
	defer s.close()

	ctx, cancel := context.WithCancel(context.Background())
	evaluated := make(chan struct{})
	go func() {
		defer close(evaluated)
		d.eval.Run(ctx)
	}()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		d.reloader.watch(ctx, p.poll)
	}()
	failed := s.start()
	p.announce(s)
	notified := make(chan struct{})
	go func() {
		defer close(notified)
		d.notifier.run(ctx, d.eval)
	}()
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		d.orphans.Run(ctx)
	}()
	defer func() {
		cancel()
		<-evaluated
		<-watched
		<-notified
		<-reaped
	}()
	for {
		select {
		case err := <-failed:
			d.logger.Error("listener ended", "err", err)
			return exitFailing
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				_ = d.reloader.reload() // logged, and in the snapshot
				continue
			}
			d.lameDuck(p.shutdownDelay, signals)
			return exitOK
		}
	}
}

// lameDuck answers on, with ready failing, until the delay is over or the process is
// asked to stop once more. There is nothing to reload any more.
func (d *daemon) lameDuck(delay time.Duration, signals <-chan os.Signal) {
	d.logger.Info("shutting down", "delay", delay)
	d.notifier.stopping()
	d.eval.Shutdown()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case sig := <-signals:
			if sig != syscall.SIGHUP {
				return
			}
		}
	}
}
