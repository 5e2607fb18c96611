package config

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// Reloader loads the configuration again on request or when a file has changed.
type Reloader struct {
	Load    func() (*Loaded, []error)
	Builder *Builder
	Eval    *evaluator.Evaluator
	Logger  *slog.Logger
	// Begin announces a reload and returns the function that announces its end.
	Begin func() (end func())
	// Apply is called with the configuration that is now running.
	Apply func(*Loaded)

	mu sync.Mutex // guards what follows, and makes reloads follow one another
	// tried are the sources of the last configuration, valid or not: an invalid one is
	// loaded again only after one of its files has changed.
	tried *Sources
	// invalid means that there was no valid configuration yet.
	invalid bool
	// unmade means that collectors could not be made, which may be due to files that they
	// read: without a valid configuration, every check tries again.
	unmade bool
	// refused is the text of the last error.
	refused string
}

// UseInvalid records a configuration that is invalid at the start. The evaluator was made
// with its mistakes: see evaluator.Config.
func (r *Reloader) UseInvalid(l *Loaded, err error) {
	r.tried, r.invalid, r.unmade, r.refused = l.Sources, true, true, err.Error()
	r.Logger.Error("configuration is invalid; ready fails until it is corrected", "err", err)
}

// Use records the configuration that is running.
func (r *Reloader) Use(l *Loaded) {
	r.tried = l.Sources
	r.Apply(l)
}

// Reload loads the configuration and replaces the running one. An invalid configuration
// changes only the reload status in the snapshots.
func (r *Reloader) Reload() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = "" // a request is answered in the log
	return r.reloadLocked()
}

func (r *Reloader) reloadLocked() error {
	defer r.Begin()()
	l, errs := r.Load()
	r.tried, r.unmade = l.Sources, len(errs) == 0
	if len(errs) > 0 {
		return r.refuse(errors.Join(errs...))
	}
	cfg, commit, err := r.Builder.Build(l)
	if err != nil {
		return r.refuse(err)
	}
	if err := r.Eval.Apply(cfg); err != nil {
		return r.refuse(err)
	}
	commit()
	r.invalid, r.unmade, r.refused = false, false, ""
	r.Use(l)
	r.Logger.Info("configuration loaded", "collectors", len(l.Config.Collectors), "rules", CountRules(l.Rules))
	return nil
}

// refuse records and logs that the configuration is invalid. Without a valid one, the same
// error once more is no news.
func (r *Reloader) refuse(err error) error {
	again := err.Error() == r.refused
	r.refused = err.Error()
	switch {
	case r.invalid && again:
		return err
	case r.invalid:
		r.Logger.Error("configuration is still invalid; ready fails until it is corrected", "err", err)
		return errors.Join(err, r.Eval.Apply(evaluator.Config{Invalid: err}))
	}
	r.Eval.ReloadFailed(err)
	r.Logger.Error("configuration is invalid; the last valid one stays in use", "err", err)
	return err
}

// Watch checks the sources for changes until ctx ends. It returns at once where every is
// not positive.
func (r *Reloader) Watch(ctx context.Context, every time.Duration) {
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

func (r *Reloader) reloadIfChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.invalid && r.unmade || r.tried.Changed() {
		_ = r.reloadLocked() // logged, and in the snapshot
	}
}
