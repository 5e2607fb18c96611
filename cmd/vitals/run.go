package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/alertmanager"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/history/journal"
	"github.com/vitals-health/vitals/internal/kubereport"
	"github.com/vitals-health/vitals/internal/listen"
	"github.com/vitals-health/vitals/internal/profiles"
	"github.com/vitals-health/vitals/internal/reaper"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/internal/sdnotify"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/ownmetrics"
)

// load reads the configuration that the flags name, and hides its secrets from now on. The first
// result is never nil.
func (p *program) load() (*config.Loaded, []error) {
	l, errs := p.read()
	p.secrets.Add(l.Secrets...)
	return l, errs
}

func (p *program) read() (*config.Loaded, []error) {
	switch {
	case p.configFile != "" && p.profile != "":
		return &config.Loaded{Sources: config.NewSources()}, []error{fmt.Errorf("both --config.file=%s and --profile=%s are given: expected one of them", p.configFile, p.profile)}
	case p.profile != "":
		return profiles.Load(p.profileOptions())
	case p.kuryrConf != "" || len(p.set) > 0 || len(p.rules) > 0:
		return &config.Loaded{Sources: config.NewSources()}, []error{errors.New("--kuryr.conf, --set and --rules change a profile: expected --profile=NAME with them")}
	case p.configFile != "":
		return config.LoadFile(p.configFile)
	}
	return &config.Loaded{Sources: config.NewSources()}, []error{fmt.Errorf("no configuration: give --config.file=FILE, or --profile=NAME for a shipped one; \"vitals demo\" needs neither")}
}

// The values of --on-config-error.
const (
	exitOnError  = "exit"
	serveOnError = "serve"
)

// runCommand declares the command run.
func (p *program) runCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("run", "Collect, evaluate and serve until SIGTERM or SIGINT: ready then fails at once, and the process ends after --web.shutdown-delay. SIGHUP reloads the configuration.").Default()
	p.configFlags(cmd)
	p.webFlags(cmd, config.DefaultListen)
	cmd.Flag("config.poll-interval", "How often to check the configuration files for changes; 0 disables the check.").Default("5s").DurationVar(&p.poll)
	cmd.Flag("on-config-error", "What to do if the configuration is invalid at the start: exit with 3, or serve: alive is ok, ready fails with the mistake, and a corrected file is loaded when it changes.").Default(exitOnError).EnumVar(&p.onConfigError, exitOnError, serveOnError)
	p.alertmanagerFlags(cmd)
	p.kubernetesFlags(cmd)
	p.storageFlags(cmd)
	cmd.Action(do(p.runDaemon))
}

// runDaemon is the command run.
func (p *program) runDaemon() int {
	defer p.queueLog()()
	logger := p.logger()
	reporter, err := p.newReporter(logger)
	if err != nil {
		return p.fail(err)
	}
	alerts, err := p.newAlertmanager(logger)
	if err != nil {
		return p.fail(err)
	}
	l, errs := p.load()
	invalid := errors.Join(errs...)
	if invalid != nil && p.onConfigError != serveOnError {
		return p.fail(errs...)
	}
	if a := l.Config.Server.ListenAddress; !p.listenGiven && config.IsListenAddress(a) {
		*p.web.WebListenAddresses = []string{a}
	}
	if err := p.storage.check(); err != nil {
		return p.fail(err)
	}
	logger.Info("starting vitals", "version", version.Info())
	p.storage.open(logger)
	var d *daemon
	if invalid == nil {
		d, invalid = p.newDaemon(l, logger)
	}
	switch lint := rulecheck.NewLog(logger); {
	case invalid == nil:
		lint.Use(l)
		d.lint = lint
	case p.onConfigError == serveOnError:
		var err error
		if d, err = p.newInvalidDaemon(l, invalid, logger); err != nil {
			return p.fail(err)
		}
		d.lint = lint
	default:
		return p.fail(invalid)
	}
	d.reporter, d.alertmanager = reporter, alerts
	p.storage.past = history.Past{} // the history has it, and drops what is too old
	return d.serve(p, nil)
}

// daemon is the running program.
type daemon struct {
	logger *slog.Logger
	loaded atomic.Pointer[config.Loaded]
	// components is the collector that accepts reports; nil where none is configured.
	components atomic.Pointer[components.Collector]
	eval       *evaluator.Evaluator
	// history is what happened, and journal stores it; nil where nothing is to be stored.
	history *history.History
	journal *journal.Journal
	// reporter reports to Kubernetes; nil for no reports.
	reporter *kubereport.Reporter
	// alertmanager sends alerts; nil for none.
	alertmanager *alertmanager.Notifier
	reloader     *config.Reloader
	// notifier reports to the service manager; nil where there is none.
	notifier *sdnotify.Notifier
	// lint checks the rules of each configuration and logs findings; nil for no checks.
	lint *rulecheck.Log
	// listeners are those of serve, set before they serve; nil in other cases.
	listeners *listen.Listeners
	// orphans reaps children that were re-parented to this process.
	orphans *reaper.Reaper
}

// newDaemon wires a loaded configuration. It starts nothing.
func (p *program) newDaemon(l *config.Loaded, logger *slog.Logger) (*daemon, error) {
	d, b := p.newParts(logger)
	cfg, commit, err := b.Build(l)
	if err != nil {
		return nil, err
	}
	if d.eval, err = evaluator.New(cfg, p.evaluatorOptions(d, b)); err != nil {
		return nil, err
	}
	commit()
	d.reloader = p.newReloader(d, b)
	d.reloader.Use(l)
	return d, nil
}

// newInvalidDaemon wires a daemon without collectors and rules. Its ready fails with the
// mistakes in the configuration until a corrected one is loaded.
func (p *program) newInvalidDaemon(l *config.Loaded, invalid error, logger *slog.Logger) (d *daemon, err error) {
	d, b := p.newParts(logger)
	if d.eval, err = evaluator.New(evaluator.Config{Invalid: errors.New(p.secrets.Text(invalid.Error()))}, p.evaluatorOptions(d, b)); err != nil {
		return nil, err
	}
	d.loaded.Store(&config.Loaded{})
	d.reloader = p.newReloader(d, b)
	d.reloader.UseInvalid(l, invalid)
	return d, nil
}

// newParts returns a daemon without an evaluator, and the builder of its collectors.
func (p *program) newParts(logger *slog.Logger) (*daemon, *config.Builder) {
	d := &daemon{logger: logger, history: history.Resume(time.Now(), p.storage.past), journal: p.storage.journal, notifier: sdnotify.New(logger), orphans: reaper.New(reaper.Options{Logger: logger})}
	d.history.Log(logger)
	memory := memoryToUse()
	return d, &config.Builder{
		Logger: logger, Start: d.orphans.Start, Secrets: p.secrets, TargetMemory: memoryLimit() / targetsShare,
		Memory: budget.New(memory / seriesShare), Bodies: budget.NewBodies(memory / bodiesShare),
	}
}

func (p *program) newReloader(d *daemon, b *config.Builder) *config.Reloader {
	return &config.Reloader{Load: p.load, Builder: b, Eval: d.eval, Logger: d.logger, Begin: d.notifier.Reloading, Apply: func(l *config.Loaded) { d.use(l, b) }}
}

// use records the configuration that is now running.
func (d *daemon) use(l *config.Loaded, b *config.Builder) {
	d.loaded.Store(l)
	var found *components.Collector
	for _, made := range b.Collectors() {
		if c, ok := made.(*components.Collector); ok {
			found = c
		}
	}
	d.components.Store(found)
	d.lint.Use(l)
}

// evaluatorOptions are the options of the daemon's evaluator.
func (p *program) evaluatorOptions(d *daemon, b *config.Builder) evaluator.Options {
	return evaluator.Options{
		Logger: d.logger, Secrets: p.secrets, Observe: d.history.Observe, Overrides: p.storage.past.Overrides, Memory: b.Memory, MaxSamples: maxSamples(),
		ExternalLabels: p.alertmanager.ExternalLabels, ExternalURL: strings.TrimRight(p.alertmanager.ExternalURL, "/"),
	}
}

// report passes a component's report to the collector that accepts them.
func (d *daemon) report(name string, r collectors.Report) error {
	if c := d.components.Load(); c != nil {
		return c.Report(name, r)
	}
	return collectors.ErrUnknownComponent
}

// reports returns the last report of every component, without secrets.
func (d *daemon) reports(secrets *redact.List) []server.ComponentStatus {
	c := d.components.Load()
	if c == nil {
		return nil
	}
	return server.ComponentsOf(c.Status(), secrets.Text)
}

func (d *daemon) newServer(p *program, extra map[string]http.Handler) *server.Server {
	opts := server.Options{
		Snapshot:       d.eval.Snapshot,
		Changed:        d.eval.Changed,
		Explain:        explain.New(d.eval).Explain,
		History:        d.history,
		FailingStatus:  func() int { return d.loaded.Load().Config.Server.FailingStatus },
		Report:         d.report,
		Components:     func() []server.ComponentStatus { return d.reports(p.secrets) },
		Overrides:      d.eval,
		OperatorToken:  func() string { return d.loaded.Load().Config.Server.OperatorToken.Value() },
		Stored:         func() bool { return d.journal.Stored(d.history) },
		ReportToken:    func() string { return d.loaded.Load().Config.Server.ComponentToken.Value() },
		Config:         func() []byte { return []byte(p.secrets.Text(string(d.loaded.Load().Redacted))) },
		Process:        d.sources(p),
		Hosts:          p.hosts(),
		Version:        version.Version,
		About:          p.about(),
		FrameAncestors: p.frameAncestors,
		ExternalExtra:  extra,
		Logger:         d.logger,
	}
	if p.lifecycle {
		opts.Reload = d.reloader.Reload
	}
	return server.New(opts)
}

// sources return what the metrics of the process itself show.
func (d *daemon) sources(p *program) ownmetrics.Sources {
	return ownmetrics.Sources{
		DroppedLogLines:   p.queue.Dropped,
		UnixSocket:        func() (listening, ok bool) { return d.listeners.UnixSocket() },
		Storage:           func() (writable, ok bool) { return d.journal.Writable(), d.journal != nil },
		Connections:       func() []ownmetrics.Connections { return d.listeners.Connections() },
		Notifications:     func() []ownmetrics.Notifications { return notificationsOf(d.alertmanager) },
		KubernetesReports: func() ownmetrics.KubernetesReports { return reportsOf(d.reporter) },
	}
}
