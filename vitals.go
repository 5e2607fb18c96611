// Package vitals evaluates the health of the program that it is part of: it runs collectors, decides
// by rules in Prometheus' format, and serves the verdicts as probes, metrics, an API and a page.
// A program contains only the kinds of collectors that it names.
//
// The guide docs/guides/embedding.md begins with a whole program.
package vitals

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/configfile"
	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/rules"
)

// Options configure an Evaluator. The zero value has no collectors and no rules: alive is then ok,
// and ready fails with "no rules".
type Options struct {
	// ConfigFile is the path of a vitals.yml; empty for none. Of its keys, server.listen_address
	// has no effect.
	ConfigFile string
	// Config is the text of a vitals.yml, without ConfigFile. Its paths are relative to the
	// working directory.
	Config []byte
	// RuleFiles are paths or globs of further rule files, relative to the working directory.
	RuleFiles []string
	// Rules is the text of one further rule file; empty for none.
	Rules []byte
	// Kinds are the kinds of collectors that the configuration may name, by key, such as
	// {"http": new(http.Config)}. A value is a pointer to a struct. New uses its type only.
	Kinds map[string]collectors.Kind
	// Templates is the result of the function Templates if labels or annotations of rules have
	// templates. Without it, such a rule is a mistake.
	Templates TemplateParser
	// Collectors are further collectors.
	Collectors []Collector
	// Interval is the time between two evaluations when nothing else causes one. Zero is that of
	// the configuration, which is 1 s by default.
	Interval time.Duration
	// MaxMemory bounds the memory of series and alerts, of answers while they are parsed, and of
	// targets at 16 KiB, in bytes each; 64 MiB if zero. New refuses a configuration with more targets.
	MaxMemory int64
	// AllowedHosts are names under which clients may reach the page, the API and /config without
	// TLS, in addition to addresses, the name of the machine and local names. A name is written as
	// in --web.allowed-host of the program vitals: "vitals.example.org", ".example.org" for all names
	// below it, or "*" for all names. Other names get 403, against DNS rebinding.
	AllowedHosts []string
	// Title is that of the page; the name of the host if empty.
	Title string
	// Logger logs every change once; nil logs nothing.
	Logger *slog.Logger
}

// TemplateParser parses the templates of rules.
type TemplateParser = expand.Parser

func (o *Options) memory() int64 { return cmp.Or(o.MaxMemory, defaultMemory) }

// Templates returns a parser of templates as Prometheus has them, such as {{ $value }}. It links
// text/template, which makes a program 4.6 MB larger: only one that calls Templates contains it.
func Templates() TemplateParser { return rules.Templates() }

const (
	// defaultMemory is a quarter of the memory that small containers have, 256 MiB.
	defaultMemory = 64 << 20
	// bytesPerSample is the size of a sample in a query: a time and a value.
	bytesPerSample = 16
	// pollInterval is how often Run checks the files for changes, as vitals run does by default.
	pollInterval = 5 * time.Second
)

// Evaluator runs collectors and rules. Its methods are safe for concurrent use. It implements
// prometheus.Collector over the metrics of its snapshot.
type Evaluator struct {
	eval     *evaluator.Evaluator
	server   *server.Server
	history  *history.History
	reloader *configfile.Reloader[entry]
	secrets  *redact.List
	logger   *slog.Logger
	current  atomic.Pointer[running]
	phase    atomic.Int32
}

// The phases of an Evaluator: before Run, since Run, since a Shutdown before Run, and since a Run
// after such a Shutdown.
const (
	phaseNew = iota
	phaseRun
	phaseShutdown
	phaseEnded
)

// running is the configuration in use.
type running struct {
	loaded *configfile.Loaded[entry]
	// components accepts reports; nil where no collector does.
	components collectors.Reporter
}

// New makes an Evaluator and starts nothing; Run does. The error lists every mistake in the
// options and in the files, each with its place.
func New(o Options) (*Evaluator, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	v := &Evaluator{history: history.New(time.Now()), secrets: &redact.List{}, logger: o.Logger}
	if v.logger == nil {
		v.logger = slog.New(slog.DiscardHandler)
	}
	v.history.Log(v.logger)
	memory := o.memory()
	b := &configfile.Builder[entry]{Logger: v.logger, Secrets: v.secrets, Memory: budget.New(memory), Bodies: budget.NewBodies(memory)}
	load := func() (*configfile.Loaded[entry], []error) {
		l, errs := o.load()
		v.secrets.Add(l.Secrets...)
		return l, errs
	}
	l, errs := load()
	if len(errs) > 0 {
		return nil, clean(v.secrets, errors.Join(errs...))
	}
	cfg, commit, err := b.Build(l)
	if err != nil {
		return nil, clean(v.secrets, err)
	}
	v.eval, err = evaluator.New(cfg, evaluator.Options{
		Logger: v.logger, Secrets: v.secrets, Observe: v.history.Observe, Memory: b.Memory, MaxSamples: int(memory / bytesPerSample),
	})
	if err != nil {
		return nil, clean(v.secrets, err)
	}
	commit()
	v.reloader = &configfile.Reloader[entry]{
		Load: load, Builder: b, Eval: v.eval, Logger: v.logger,
		Begin: func() func() { return func() {} },
		Apply: func(l *configfile.Loaded[entry]) { v.current.Store(&running{l, reporter(b.Collectors())}) },
	}
	v.reloader.Use(l)
	v.server = v.newServer(o.Title, o.AllowedHosts)
	return v, nil
}

// reporter returns the collector that accepts reports, or nil.
func reporter(all []collectors.Collector) collectors.Reporter {
	for _, c := range all {
		if r, ok := c.(collectors.Reporter); ok {
			return r
		}
	}
	return nil
}

// Run collects and evaluates until ctx ends, and loads the configuration again when one of its files
// changes: an invalid one leaves the last valid one in use. It returns nil then. After a Shutdown
// that came first, it returns evaluator.ErrStopped at once. A second call is an error and changes nothing.
func (v *Evaluator) Run(ctx context.Context) error {
	if v.phase.CompareAndSwap(phaseShutdown, phaseEnded) {
		v.history.Close()
		return evaluator.ErrStopped
	}
	if !v.phase.CompareAndSwap(phaseNew, phaseRun) {
		return errors.New("vitals: Run was called before: make another Evaluator with New")
	}
	defer v.history.Close()
	var others sync.WaitGroup
	defer others.Wait()
	start := func(name string, run func()) {
		others.Go(func() {
			if err := panics.Try(run); err != nil {
				v.logger.Error("task ended", "task", name, "err", err)
			}
		})
	}
	start("watch of the configuration", func() { v.reloader.Watch(ctx, pollInterval) })
	start("compared values", func() { explain.NewComparer(v.eval).Run(ctx, v.history.Compare) })
	v.eval.Run(ctx)
	return nil
}

// Shutdown makes ready fail with the reason "shutting down". A program calls it before it stops
// serving, and goes on with Run until its clients have left. It returns once that is published.
// Before Run it returns at once, and Run then starts nothing. After Run it has no effect.
func (v *Evaluator) Shutdown() {
	if !v.phase.CompareAndSwap(phaseNew, phaseShutdown) && v.phase.Load() == phaseRun {
		v.eval.Shutdown()
	}
}

// Reload loads the configuration again. An invalid one leaves the last valid one in use, and its
// mistakes are the error. Before Run it is an error, and after the end evaluator.ErrStopped.
func (v *Evaluator) Reload() error {
	switch v.phase.Load() {
	case phaseNew:
		return errors.New("vitals: Reload was called before Run: New has loaded the configuration")
	case phaseRun:
		return v.reloader.Reload()
	}
	return evaluator.ErrStopped
}

// Report records the report of a component of this program, which takes effect at once. It needs a
// collector of the kind components. It returns collectors.ErrUnknownComponent or
// collectors.ErrInvalidReport for a report that is rejected.
func (v *Evaluator) Report(component string, r collectors.Report) error {
	if c := v.current.Load().components; c != nil {
		return c.Report(component, r)
	}
	return collectors.ErrUnknownComponent
}

// Snapshot returns the newest snapshot, which is immutable and never nil.
func (v *Evaluator) Snapshot() *evaluator.Snapshot { return v.eval.Snapshot() }

// Changed returns a channel that is closed when a snapshot newer than the one that Snapshot
// returned before the call has been published.
func (v *Evaluator) Changed() <-chan struct{} { return v.eval.Changed() }

// Handler serves probes, metrics, the API and the page: the paths of docs/reference/endpoints.md.
// Reports need the token server.component_token of the configuration, silences and maintenance
// need server.operator_token. They are rejected without one. A silence waits for Run.
func (v *Evaluator) Handler() http.Handler { return v.server.Handler() }

// Probes serves the states and nothing else, for a listener without authentication.
func (v *Evaluator) Probes() http.Handler { return v.server.Probes() }
