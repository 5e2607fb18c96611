package evaluator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/redact"
)

const (
	// minGap is the shortest time between the starts of two rounds of a collector
	// that asks for them: a component that flaps costs at most 100 rounds a second.
	minGap = 10 * time.Millisecond
	// What a collector gets beyond its timeout to return what it knows is a tenth of
	// the timeout within these bounds, so that the answer "it timed out" arrives, also
	// on a busy machine.
	minGrace = 250 * time.Millisecond
	maxGrace = time.Second
	// spread is the part of the interval by which rounds vary, so that collectors
	// that started together do not stay together.
	spread = 0.05
)

// worker runs one collector: a round at once, then one an interval, and one
// whenever the collector asks. It never runs two rounds at the same time.
type worker struct {
	collector collectors.Collector
	// source is replaced when a reload changes the collector's times.
	source  atomic.Pointer[Source]
	cancel  context.CancelFunc
	ended   chan struct{} // closed when run has returned
	results chan<- result
	logger  *slog.Logger
	wake    chan struct{}
	// ok, told and panicked remember the last outcome that was logged.
	ok, told, panicked bool
}

func newWorker(s Source, results chan<- result, logger *slog.Logger) *worker {
	w := &worker{collector: s.Collector, results: results, logger: logger.With("collector", s.Name), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	w.source.Store(&s)
	return w
}

// change takes over other times: from the next round on, which is asked for.
func (w *worker) change(s Source) {
	if *w.source.Load() != s {
		w.source.Store(&s)
		w.ask()
	}
}

// ask asks for a round at once; it never blocks.
func (w *worker) ask() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends. It does not wait for a collector that ignores its
// context.
func (w *worker) run(ctx context.Context) {
	if r, ok := w.collector.(collectors.Runner); ok {
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.keepRunning(ctx, r)
		}()
		defer w.await(done)
	}
	for {
		begin := time.Now()
		if !w.round(ctx) {
			return
		}
		if !sleep(ctx, minGap) || !w.pause(ctx, w.wait()-time.Since(begin)) {
			return
		}
	}
}

// wait is the interval, varied.
func (w *worker) wait() time.Duration {
	return time.Duration(float64(w.source.Load().Interval) * (1 + spread*(2*rand.Float64()-1)))
}

// pause waits until the next round is due or asked for.
func (w *worker) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-w.wake:
	case <-timer.C:
	}
	return true
}

// sleep waits for d; it returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// round asks the collector once and delivers what came of it. A collector that
// does not return in time is declared late at once, and waited for before the
// next round.
func (w *worker) round(ctx context.Context) bool {
	timeout := w.source.Load().Timeout
	begin := time.Now() // before the timeout begins: a round that it ends has taken no less
	collecting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan result, 1)
	go func() { done <- w.collect(collecting) }()

	timer := time.NewTimer(timeout + min(max(timeout/10, minGrace), maxGrace))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case r := <-done:
			r.took = time.Since(begin)
			return w.deliver(ctx, r)
		case <-timer.C:
			late := result{took: time.Since(begin), err: fmt.Errorf("no result within the timeout of %s", timeout)}
			if !w.deliver(ctx, late) {
				return false
			}
			select {
			case <-ctx.Done():
				return false
			case <-done: // too late: dropped
				return true
			}
		}
	}
}

// collect calls the collector and turns a panic into an error.
func (w *worker) collect(ctx context.Context) (r result) {
	defer func() {
		if p := recover(); p != nil {
			r = result{err: errors.New(bound(panicText(p))), stack: debug.Stack()}
		}
	}()
	samples, err := w.collector.Collect(ctx)
	if err != nil {
		err = errors.New(redact.Text(err.Error()))
	}
	return result{samples: samples, descs: w.collector.Describe(), err: err, note: noteOf(w.collector)}
}

// panicText is what a collector panicked with, as people may see it.
func panicText(p any) string { return redact.Text(fmt.Sprintf("panic: %v", p)) }

// tell logs what changed with a result.
func (w *worker) tell(r result) {
	if r.stack != nil && !w.panicked {
		w.logger.Error("collector panicked", "err", r.err, "stack", string(r.stack))
	}
	w.panicked = r.stack != nil
	ok := r.err == nil
	if w.told && ok == w.ok {
		return
	}
	w.told, w.ok = true, ok
	if ok {
		w.logger.Info("collector succeeds")
	} else {
		w.logger.Warn("collector fails", "err", bound(r.err.Error()))
	}
}

func (w *worker) deliver(ctx context.Context, r result) bool {
	r.collector = w.collector
	w.tell(r)
	select {
	case <-ctx.Done():
		return false
	case w.results <- r:
		return true
	}
}

// keepRunning keeps what the collector holds open between rounds; should it panic
// or return, it is started again after an interval.
func (w *worker) keepRunning(ctx context.Context, r collectors.Runner) {
	for ctx.Err() == nil {
		w.runOnce(ctx, r)
		if !sleep(ctx, w.source.Load().Interval) {
			return
		}
	}
}

func (w *worker) runOnce(ctx context.Context, r collectors.Runner) {
	defer func() {
		if p := recover(); p != nil {
			w.logger.Error("collector panicked between rounds", "err", bound(panicText(p)), "stack", string(debug.Stack()))
		}
	}()
	r.Run(ctx, w.ask)
}

// await gives a Runner a moment to close what it holds; one that ignores its
// context is left behind.
func (w *worker) await(done <-chan struct{}) {
	timer := time.NewTimer(maxGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		w.logger.Warn("collector does not stop", "waited", maxGrace)
	}
}
