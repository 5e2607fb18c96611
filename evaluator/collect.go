package evaluator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/redact"
)

const (
	// minGap is the shortest time between two collections that a collector requests: a
	// component that flaps causes at most 100 a second.
	minGap = 10 * time.Millisecond
	// A collector gets a tenth of its timeout within these bounds in addition, so that
	// its own timeout error arrives, also on a busy machine. It counts from the moment when
	// the process notices the timeout, which may have been stopped meanwhile.
	minGrace = 250 * time.Millisecond
	maxGrace = time.Second
	// spread is the part of the interval by which collections vary, so that collectors
	// that started together drift apart.
	spread = 0.05
)

// worker runs one collector: a collection at once, then one an interval, and one
// whenever the collector requests it, which does not delay the regular ones. Collections
// do not overlap.
type worker struct {
	collector collectors.Collector
	// source is replaced when a reload changes the collector's times.
	source  atomic.Pointer[Source]
	cancel  context.CancelFunc
	ended   chan struct{} // closed when run has returned
	results chan<- result
	logger  *slog.Logger
	secrets *redact.List
	wake    chan struct{}
	// panicked is set if the last collection panicked.
	panicked bool
	// fault is the panic of the last Run until another one has run for an interval. What the
	// collector holds may be outdated until then, so its collections fail.
	fault atomic.Pointer[panics.Error]
	log   outcomeLog
}

func newWorker(s Source, results chan<- result, opts Options) *worker {
	w := &worker{collector: s.Collector, results: results, logger: opts.Logger.With("collector", s.Name), secrets: opts.Secrets, wake: make(chan struct{}, 1), ended: make(chan struct{}), log: newOutcomeLog()}
	w.source.Store(&s)
	return w
}

// change sets other times and requests a collection, which is the first to use them.
func (w *worker) change(s Source) {
	if *w.source.Load() != s {
		w.source.Store(&s)
		w.wakeUp()
	}
}

// renew has the collector run now and the interval begin anew. Unlike a requested collection, a
// regular one exports no earlier results.
func (w *worker) renew() {
	before := w.source.Load()
	same := *before
	w.source.CompareAndSwap(before, &same)
	w.wakeUp()
}

// wakeUp requests a collection; it never blocks.
func (w *worker) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run collects until ctx ends. It does not wait for a collector that ignores its
// context.
func (w *worker) run(ctx context.Context) {
	if r, ok := w.collector.(collectors.Runner); ok {
		running := panics.Go(func() struct{} { w.keepRunning(ctx, r); return struct{}{} })
		defer w.await(running.Done())
	}
	var source *Source
	var due time.Time // of the next regular collection
	for {
		begin, collecting := time.Now(), collectors.WithRequest(ctx)
		if s := w.source.Load(); s != source || !begin.Before(due) {
			source, due, collecting = s, begin.Add(w.wait()), ctx
		}
		if !w.runCollection(collecting) {
			return
		}
		if !sleep(ctx, minGap, nil) || !sleep(ctx, time.Until(due), w.wake) {
			return
		}
	}
}

// wait returns the interval, varied by spread.
func (w *worker) wait() time.Duration {
	return time.Duration(float64(w.source.Load().Interval) * (1 + spread*(2*rand.Float64()-1)))
}

// sleep waits for d or for wake, which may be nil. It returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-time.After(d):
	}
	return true
}

// runCollection runs the collector once and delivers the result; it returns false when
// ctx has ended. For a collector that does not return in time it delivers an error at
// once, and then waits for it to return.
func (w *worker) runCollection(ctx context.Context) bool {
	timeout := w.source.Load().Timeout
	begin := time.Now() // before the timeout begins, so that a collection that times out took no less
	collecting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	collection := panics.Go(func() result { return w.collect(collecting) })

	ended, late := collecting.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ended:
			ended, late = nil, time.After(min(max(timeout/10, minGrace), maxGrace))
		case <-collection.Done():
			r := w.outcome(collection)
			r.began, r.took = begin, time.Since(begin)
			return w.deliver(ctx, r)
		case <-late:
			if !w.deliver(ctx, result{began: begin, took: time.Since(begin), err: fmt.Errorf("no result within the timeout of %s", timeout)}) {
				return false
			}
			select {
			case <-ctx.Done():
				return false
			case <-collection.Done():
				w.logPanic(w.outcome(collection)) // too late: dropped
				return true
			}
		}
	}
}

// collect calls the collector.
func (w *worker) collect(ctx context.Context) result {
	samples, err := w.collector.Collect(ctx)
	r := result{samples: w.shownSamples(samples), descs: w.shownDescs(w.collector.Describe()), err: err, note: w.noteOf(), parts: w.partsOf()}
	if p, ok := w.collector.(collectors.Prioritizer); ok && len(r.samples) == len(samples) {
		r.essential = p.Essential()
	}
	if err == nil {
		return r
	}
	if panicked, ok := errors.AsType[*panics.Error](err); ok { // in a callback of a library
		r.stack = panicked.Stack
	}
	r.err = errors.New(w.shown(err.Error()))
	return r
}

// outcome returns the result of a collection that has ended. A panic is an error, and so is
// one between collections.
func (w *worker) outcome(collection *panics.Task[result]) (r result) {
	defer func() {
		if p := panics.Of(recover()); p != nil {
			r = result{err: errors.New(w.panicText(p)), stack: p.Stack}
		}
	}()
	r = collection.Result()
	if p := w.fault.Load(); p != nil {
		return result{err: errors.New(bound("between collections: " + w.panicText(p)))}
	}
	return r
}

// panicText returns the value of a panic without secrets.
func (w *worker) panicText(p *panics.Error) string { return bound(w.shown(p.Error())) }

func (w *worker) deliver(ctx context.Context, r result) bool {
	r.collector = w.collector
	w.logChange(r, time.Now())
	select {
	case <-ctx.Done():
		return false
	case w.results <- r:
		return true
	}
}

// keepRunning calls Run, which keeps connections open between collections, and calls it
// again an interval after it returned or panicked.
func (w *worker) keepRunning(ctx context.Context, r collectors.Runner) {
	for ctx.Err() == nil {
		w.runOnce(ctx, r)
		if !sleep(ctx, w.source.Load().Interval, nil) {
			return
		}
	}
}

// runOnce calls Run. Collections fail from a panic until a later Run has returned or has run for
// an interval.
func (w *worker) runOnce(ctx context.Context, r collectors.Runner) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // also for what Run has started, after a panic
	running := panics.Go(func() error {
		return panics.Try(func() { r.Run(ctx, w.wakeUp) })
	})
	select {
	case <-running.Done():
	case <-time.After(w.source.Load().Interval):
		w.setFault(nil)
	}
	p, _ := errors.AsType[*panics.Error](running.Result())
	w.setFault(p)
}

// setFault sets the panic of Run, nil for none, and requests a collection if it changes whether
// collections fail. Panics that follow one another are logged once.
func (w *worker) setFault(p *panics.Error) {
	before := w.fault.Swap(p)
	if (before == nil) == (p == nil) {
		return
	}
	if p != nil {
		w.logger.Error("collector panicked between collections", "err", w.panicText(p), "stack", string(p.Stack))
	}
	w.wakeUp()
}

// await gives a Runner at most maxGrace to release its resources; one that ignores its
// context keeps running.
func (w *worker) await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(maxGrace):
		w.logger.Warn("collector does not stop", "waited", maxGrace)
	}
}
