package workers

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
	"github.com/vitals-health/vitals/internal/text"
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
	// maxError bounds an error, in bytes.
	maxError = 512
)

// worker runs one collector: a collection at once, then one an interval, and one
// whenever the collector requests it, which does not delay the regular ones. Collections
// do not overlap.
type worker struct {
	collector collectors.Collector
	// job is replaced when a reload changes the collector's times.
	job     atomic.Pointer[Job]
	cancel  context.CancelFunc
	ended   chan struct{} // closed when run has returned
	results chan<- Result
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

func newWorker(j Job, results chan<- Result, logger *slog.Logger, secrets *redact.List) *worker {
	w := &worker{collector: j.Collector, results: results, logger: logger.With("collector", j.Name), secrets: secrets, wake: make(chan struct{}, 1), ended: make(chan struct{}), log: newOutcomeLog()}
	w.job.Store(&j)
	return w
}

// change sets other times and requests a collection, which is the first to use them.
func (w *worker) change(j Job) {
	if *w.job.Load() != j {
		w.job.Store(&j)
		w.wakeUp()
	}
}

// renew has the collector run now and the interval begin anew. Unlike a requested collection, a
// regular one exports no earlier results.
func (w *worker) renew() {
	before := w.job.Load()
	same := *before
	w.job.CompareAndSwap(before, &same)
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
	var job *Job
	var due time.Time // of the next regular collection
	for {
		begin, collecting := time.Now(), collectors.WithRequest(ctx)
		if j := w.job.Load(); j != job || !begin.Before(due) {
			job, due, collecting = j, begin.Add(w.wait()), ctx
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
	return time.Duration(float64(w.job.Load().Interval) * (1 + spread*(2*rand.Float64()-1)))
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
	timeout := w.job.Load().Timeout
	begin := time.Now() // before the timeout begins, so that a collection that times out took no less
	collecting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	collection := panics.Go(func() Result { return w.collect(collecting) })

	ended, late := collecting.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ended:
			ended, late = nil, time.After(min(max(timeout/10, minGrace), maxGrace))
		case <-collection.Done():
			r := w.outcome(collection)
			r.Began, r.Took = begin, time.Since(begin)
			return w.deliver(ctx, r)
		case <-late:
			if !w.deliver(ctx, Result{Began: begin, Took: time.Since(begin), Err: fmt.Errorf("no result within the timeout of %s", timeout)}) {
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
func (w *worker) collect(ctx context.Context) Result {
	samples, err := w.collector.Collect(ctx)
	r := Result{Samples: w.shownSamples(samples), Descs: w.shownDescs(w.collector.Describe()), Err: err, Note: w.noteOf(), Parts: w.partsOf()}
	if p, ok := w.collector.(collectors.Prioritizer); ok && len(r.Samples) == len(samples) {
		r.Essential = p.Essential()
	}
	if err == nil {
		return r
	}
	if panicked, ok := errors.AsType[*panics.Error](err); ok { // in a callback of a library
		r.Stack = panicked.Stack
	}
	r.Err = errors.New(w.shown(err.Error()))
	return r
}

// outcome returns the result of a collection that has ended. A panic is an error, and so is
// one between collections.
func (w *worker) outcome(collection *panics.Task[Result]) (r Result) {
	defer func() {
		if p := panics.Of(recover()); p != nil {
			r = Result{Err: errors.New(w.panicText(p)), Stack: p.Stack}
		}
	}()
	r = collection.Result()
	if p := w.fault.Load(); p != nil {
		return Result{Err: errors.New(bound("between collections: " + w.panicText(p)))}
	}
	return r
}

// bound clips a text to 512 bytes, and removes invisible characters.
func bound(s string) string { return text.Clip(text.Visible(s), maxError) }

// panicText returns the value of a panic without secrets.
func (w *worker) panicText(p *panics.Error) string { return bound(w.shown(p.Error())) }

func (w *worker) deliver(ctx context.Context, r Result) bool {
	r.Collector = w.collector
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
		if !sleep(ctx, w.job.Load().Interval, nil) {
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
	case <-time.After(w.job.Load().Interval):
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
