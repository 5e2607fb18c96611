package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// reloader loads the configuration again when it is asked to, or when it changed.
type reloader struct {
	load    func() (*loaded, []error)
	builder *builder
	eval    *evaluator.Evaluator
	logger  *slog.Logger
	// notifier tells the service manager; nil where there is none.
	notifier *notifier
	// apply is told the configuration that has become the running one.
	apply func(*loaded)

	mu sync.Mutex // guards what follows, and makes reloads follow one another
	// tried is what the last configuration was read from, whether it was good or bad:
	// a bad one is tried again when something in it has changed, not before.
	tried *sources
}

// use notes the configuration that runs.
func (r *reloader) use(l *loaded) {
	r.tried = l.sources
	r.apply(l)
}

// reload loads the configuration and replaces the running one. A bad one changes
// nothing but the outcome that snapshots carry.
func (r *reloader) reload() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reloadLocked()
}

func (r *reloader) reloadLocked() error {
	defer r.notifier.reloading()()
	l, errs := r.load()
	r.tried = l.sources
	if len(errs) > 0 {
		return r.refuse(errors.Join(errs...))
	}
	cfg, commit, err := r.builder.build(l)
	if err != nil {
		return r.refuse(err)
	}
	if err := r.eval.Apply(cfg); err != nil {
		r.logger.Error("configuration is bad; the last good one goes on", "err", err)
		return err
	}
	commit()
	r.use(l)
	r.logger.Info("configuration loaded", "collectors", len(l.cfg.Collectors), "rules", countRules(l.files))
	return nil
}

// refuse says everywhere that the configuration is bad.
func (r *reloader) refuse(err error) error {
	r.eval.ReloadFailed(err)
	r.logger.Error("configuration is bad; the last good one goes on", "err", err)
	return err
}

// watch looks for changed content until ctx ends.
func (r *reloader) watch(ctx context.Context, every time.Duration) {
	if every <= 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.reloadIfChanged()
		}
	}
}

func (r *reloader) reloadIfChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried.changed() {
		_ = r.reloadLocked() // logged, and in the snapshot
	}
}
