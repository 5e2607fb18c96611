package configfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/blocking"
)

// Reloader loads the configuration again on request or when a file has changed.
type Reloader[E Entry[E]] struct {
	Load    func() (*Loaded[E], []error)
	Builder *Builder[E]
	Eval    *evaluator.Evaluator
	Logger  *slog.Logger
	// Begin announces a reload and returns the function that announces its end.
	Begin func() (end func())
	// Apply is called with the configuration that is now running.
	Apply func(*Loaded[E])

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
	loads   blocking.Call[attempt[E]]
	looks   blocking.Call[bool]
}

// reloadTimeout bounds one reload and one look for changes: the files may be on a file system
// that hangs, and a system call that hangs cannot be interrupted.
const reloadTimeout = 30 * time.Second

// attempt is the result of loading a configuration and making its collectors.
type attempt[E Entry[E]] struct {
	loaded *Loaded[E]
	cfg    evaluator.Config
	commit func()
	err    error
	// unmade means that the configuration is valid, and collectors could not be made.
	unmade bool
}

// UseInvalid records a configuration that is invalid at the start. The evaluator was made
// with its mistakes: see evaluator.Config.
func (r *Reloader[E]) UseInvalid(l *Loaded[E], err error) {
	r.tried, r.invalid, r.unmade, r.refused = l.Sources, true, true, err.Error()
	r.Logger.Error("configuration is invalid; ready fails until it is corrected", "err", err)
}

// Use records the configuration that is running.
func (r *Reloader[E]) Use(l *Loaded[E]) {
	r.tried = l.Sources
	r.Apply(l)
}

// Reload loads the configuration and replaces the running one. An invalid configuration
// changes only the reload status in the snapshots.
func (r *Reloader[E]) Reload() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = "" // a request is answered in the log
	return r.reloadLocked()
}

func (r *Reloader[E]) reloadLocked() error {
	defer r.Begin()()
	ctx, cancel := context.WithTimeout(context.Background(), reloadTimeout)
	defer cancel()
	made, err := r.loads.Do(ctx, r.attempt)
	if err != nil {
		return r.refuse(fmt.Errorf("the files of the configuration were not read within %s: %w", reloadTimeout, err))
	}
	r.tried, r.unmade = made.loaded.Sources, made.unmade
	if made.err != nil {
		return r.refuse(made.err)
	}
	if err := r.Eval.Apply(made.cfg); err != nil {
		return r.refuse(err)
	}
	made.commit()
	r.invalid, r.unmade, r.refused = false, false, ""
	l := made.loaded
	r.Use(l)
	r.Logger.Info("configuration loaded", "collectors", len(l.Config.Collectors), "rules", CountRules(l.Rules))
	return nil
}

// attempt loads the configuration and makes its collectors. It changes nothing, because its
// result is dropped if it comes too late.
func (r *Reloader[E]) attempt() attempt[E] {
	l, errs := r.Load()
	if len(errs) > 0 {
		return attempt[E]{loaded: l, err: errors.Join(errs...)}
	}
	a := attempt[E]{loaded: l}
	a.cfg, a.commit, a.err = r.Builder.Build(l)
	a.unmade = a.err != nil
	return a
}

// refuse records and logs that the configuration is invalid. Without a valid one, the same
// error once more is no news. After the end of the evaluator, the configuration is not at fault.
func (r *Reloader[E]) refuse(err error) error {
	if errors.Is(err, evaluator.ErrStopped) {
		return err
	}
	if shown := r.Builder.Secrets.Text(err.Error()); shown != err.Error() {
		err = errors.New(shown)
	}
	again := err.Error() == r.refused
	r.refused = err.Error()
	switch {
	case r.invalid && again:
		return err
	case r.invalid:
		applied := r.Eval.Apply(evaluator.Config{Invalid: err})
		if !errors.Is(applied, evaluator.ErrStopped) {
			r.Logger.Error("configuration is still invalid; ready fails until it is corrected", "err", err)
		}
		return errors.Join(err, applied)
	}
	if stopped := r.Eval.ReloadFailed(err); stopped != nil {
		return stopped
	}
	r.Logger.Error("configuration is invalid; the last valid one stays in use", "err", err)
	return err
}

// Watch checks the sources for changes until ctx ends. It returns at once where every is
// not positive.
func (r *Reloader[E]) Watch(ctx context.Context, every time.Duration) {
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

func (r *Reloader[E]) reloadIfChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), reloadTimeout)
	defer cancel()
	changed, err := r.looks.Do(ctx, r.tried.Changed)
	if r.invalid && r.unmade || err == nil && changed {
		_ = r.reloadLocked() // logged, and in the snapshot
	}
}
