package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	// apply is told the configuration that has become the running one.
	apply func(*loaded)

	mu sync.Mutex // guards what follows, and makes reloads follow one another
	// files and globs are what the running configuration consists of.
	files, globs []string
	sum          [sha256.Size]byte
}

// use notes the configuration that runs.
func (r *reloader) use(l *loaded) {
	r.files, r.globs = l.read, l.globs
	r.sum = r.checksum()
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
	l, errs := r.load()
	if len(errs) > 0 {
		err := errors.Join(errs...)
		r.eval.ReloadFailed(err)
		r.logger.Error("configuration is bad; the last good one goes on", "err", err)
		return err
	}
	cfg, commit, err := r.builder.build(l)
	if err == nil {
		err = r.eval.Apply(cfg)
	} else {
		r.eval.ReloadFailed(err)
	}
	if err != nil {
		r.logger.Error("configuration is bad; the last good one goes on", "err", err)
		return err
	}
	commit()
	r.use(l)
	r.logger.Info("configuration loaded", "collectors", len(l.cfg.Collectors), "rules", countRules(l.files))
	return nil
}

// watch looks for changed content until ctx ends. Content, not events: it works
// wherever files can be read, and with the symlink swaps of Kubernetes' volumes.
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
	sum := r.checksum()
	if sum == r.sum {
		return
	}
	r.sum = sum // a bad file is tried once, until it changes again
	r.logger.Info("configuration changed")
	_ = r.reloadLocked() // logged, and in the snapshot
}

// checksum is over the names and contents of all files, and of those that the
// globs match now.
func (r *reloader) checksum() (sum [sha256.Size]byte) {
	files := slices.Clone(r.files)
	for _, g := range r.globs {
		matches, _ := filepath.Glob(g)
		files = append(files, matches...)
	}
	slices.Sort(files)
	h := sha256.New()
	for _, f := range slices.Compact(files) {
		_, _ = io.WriteString(h, "\x00"+f+"\x00")
		if strings.HasPrefix(f, builtinPrefix) {
			continue
		}
		if data, err := readFile(f); err == nil {
			_, _ = h.Write(data)
		} else if !os.IsNotExist(err) {
			_, _ = io.WriteString(h, err.Error())
		}
	}
	copy(sum[:], h.Sum(nil))
	return sum
}
