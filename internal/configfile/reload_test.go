package configfile

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
)

// A reload that ends after the evaluator is no news about the configuration, valid or not.
func TestReloadAfterTheEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		mistakes []error
		invalid  bool
	}{
		"a valid configuration":                      {nil, false},
		"an invalid configuration":                   {[]error{errors.New("vitals.yml:1:1: a mistake")}, false},
		"an invalid configuration since the start":   {[]error{errors.New("vitals.yml:1:1: a mistake")}, true},
		"a valid configuration after an invalid one": {nil, true},
	} {
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, nil))
		eval, err := evaluator.New(evaluator.Config{}, evaluator.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		eval.Run(ctx)
		r := &Reloader[kinds.Config]{Load: func() (*Loaded[kinds.Config], []error) {
			return &Loaded[kinds.Config]{Sources: NewSources()}, tt.mistakes
		}, Builder: &Builder[kinds.Config]{Logger: logger}, Eval: eval, Logger: logger, Begin: func() func() { return func() {} }, invalid: tt.invalid}
		if err := r.Reload(); !errors.Is(err, evaluator.ErrStopped) || log.Len() > 0 {
			t.Errorf("%s: Reload() = %v and the log %q, want ErrStopped and no log", name, err, &log)
		}
	}
}

// A reload whose files hang ends with an error, and so do those after it. Once the files can
// be read again, a reload succeeds.
func TestReloadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		logger := slog.New(slog.DiscardHandler)
		eval, err := evaluator.New(evaluator.Config{}, evaluator.Options{Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); eval.Run(ctx) }()
		hang := make(chan struct{})
		load := func() (*Loaded[kinds.Config], []error) {
			<-hang
			return &Loaded[kinds.Config]{Sources: NewSources()}, nil
		}
		r := &Reloader[kinds.Config]{Load: load, Builder: &Builder[kinds.Config]{Logger: logger}, Eval: eval, Logger: logger, Begin: func() func() { return func() {} }, Apply: func(*Loaded[kinds.Config]) {}}
		r.tried = NewSources()
		for range 2 {
			if err := r.Reload(); err == nil || !strings.Contains(err.Error(), "were not read within 30s") {
				t.Errorf("Reload() of files that hang = %v, want an error after 30s", err)
			}
		}
		if s := eval.Snapshot(); s.Reload.Error == "" {
			t.Errorf("the snapshot's reload = %+v, want an error", s.Reload)
		}
		close(hang)
		synctest.Wait()
		if err := r.Reload(); err != nil {
			t.Errorf("Reload() after the end of the trouble = %v, want no error", err)
		}
		cancel()
		<-ended
	})
}
