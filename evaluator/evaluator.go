package evaluator

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/vitals-health/vitals/evaluator/internal/workers"
)

// coalesce is how long an evaluation waits for more results after the first one, so
// that a burst causes one evaluation. It is part of the time from a report to the
// changed probe answer, which is at most 50 ms.
const coalesce = 10 * time.Millisecond

// Evaluator runs the collectors and the rules. Its methods are safe for concurrent
// use.
type Evaluator struct {
	opts  Options
	core  *core
	watch stepWatch
	// clock returns the time with its monotonic reading: time.Now, except in tests of steps.
	clock    func() time.Time
	settling settling
	// waiting is since when Run has waited for an event; zero while it handles one.
	waiting time.Time
	// workers are the running collectors; nil before Run.
	workers *workers.Set
	current atomic.Pointer[published]

	results  chan workers.Result
	requests chan func(at time.Time)
	views    chan func(running context.Context)
	// viewBudget belongs to Run.
	viewBudget viewBudget
	done       chan struct{}
}

// published is a snapshot and the channel that is closed when a newer one is published.
type published struct {
	snapshot *Snapshot
	replaced chan struct{}
}

// New makes an evaluator and publishes its first snapshot, before any collection. It
// starts nothing; Run does.
func New(cfg Config, opts Options) (*Evaluator, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	now := settledTime(time.Now)
	c, err := newCore(cfg, opts, wallTime(now))
	if err != nil {
		return nil, err
	}
	c.clock = time.Now
	e := &Evaluator{
		opts: opts, core: c, watch: newStepWatch(now), clock: time.Now,
		results:  make(chan workers.Result),
		requests: make(chan func(time.Time)),
		views:    make(chan func(context.Context)),
		done:     make(chan struct{}),
	}
	e.evaluate(context.Background(), now)
	return e, nil
}

// wallTime returns a time without its monotonic reading, as the core uses it: when the
// clock steps, the core moves its times, and a monotonic reading would move as well.
func wallTime(t time.Time) time.Time { return t.Round(0) }

// Snapshot returns the newest snapshot, which is never nil.
func (e *Evaluator) Snapshot() *Snapshot { return e.current.Load().snapshot }

// Changed returns a channel that is closed when a snapshot newer than the one that
// Snapshot returned before the call, or at the call, has been published.
func (e *Evaluator) Changed() <-chan struct{} { return e.current.Load().replaced }

// Apply replaces the configuration while Run runs. Rules that stay the same keep their
// timers, collectors that stay the same go on. An error changes nothing but the outcome
// of the reload, which is in the next snapshot. It is ErrStopped once Run has ended.
func (e *Evaluator) Apply(cfg Config) error {
	answer := make(chan error, 1)
	_ = e.request(func(at time.Time) { // without a loop, done is closed
		err := e.core.apply(cfg, at)
		if err != nil {
			e.core.reloaded(err, at)
		}
		answer <- err
	})
	select {
	case err := <-answer:
		return err
	case <-e.done:
		return ErrStopped
	}
}

// ReloadFailed publishes that a new configuration could not be loaded. err must not
// contain secrets. It returns ErrStopped once Run has ended.
func (e *Evaluator) ReloadFailed(err error) error {
	return e.request(func(at time.Time) { e.core.reloaded(err, at) })
}

// Shutdown makes ready fail with the reason "shutting down". It returns once that is
// published.
func (e *Evaluator) Shutdown() {
	_ = e.request(func(time.Time) { e.core.shuttingDown, e.settling = true, settling{} }) // without a loop, done is closed
	for {
		changed := e.Changed()
		if e.Snapshot().ShuttingDown {
			return
		}
		select {
		case <-changed:
		case <-e.done:
			return
		}
	}
}

// request has the loop call f between two evaluations, and then evaluate. It returns
// ErrStopped if the loop has ended.
func (e *Evaluator) request(f func(at time.Time)) error {
	select {
	case e.requests <- f:
		return nil
	case <-e.done:
		return ErrStopped
	}
}

// Run collects and evaluates until ctx ends. It must be called once.
func (e *Evaluator) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	e.workers = workers.New(e.results, e.opts.Logger, e.opts.Secrets)
	defer func() {
		cancel()
		close(e.done)
		e.workers.Stop()
	}()
	e.workers.Replace(ctx, e.core.jobs())
	ticker := time.NewTicker(e.core.cfg.Interval)
	defer ticker.Stop()
	var soon <-chan time.Time
	for {
		due := false
		if e.waiting.IsZero() {
			e.waiting = e.clock()
		}
		select {
		case <-ctx.Done():
			return
		case r := <-e.results:
			at := wallTime(e.now())
			e.settling.took(r)
			if e.core.take(r, at) && soon == nil {
				soon = time.After(coalesce)
			}
		case f := <-e.requests:
			f(wallTime(e.now()))
			e.workers.Replace(ctx, e.core.jobs())
			e.settling.keep(e.core.sources)
			due = true
		case view := <-e.viewable(soon):
			view(ctx)
		case <-e.viewBudget.over:
			e.viewBudget = viewBudget{}
		case <-ticker.C:
			due = true
		case <-soon:
			due = true
		case <-e.settling.over:
			e.now() // a step that this notices does not extend the wait
			e.settling, due = settling{}, true
		}
		if due {
			soon = nil
			ticker.Reset(e.core.cfg.Interval) // the next one is due an interval after this one
			e.evaluateUnlessSettling(ctx)
		}
	}
}

// viewable returns the views to run: none while an evaluation is due soon, as the window
// then has samples newer than the last one, and none without time left for them.
func (e *Evaluator) viewable(soon <-chan time.Time) <-chan func(context.Context) {
	if soon != nil || !e.viewBudget.open() {
		return nil
	}
	return e.views
}

// evaluateUnlessSettling evaluates all rules, unless the clock stepped and collections are
// awaited.
func (e *Evaluator) evaluateUnlessSettling(ctx context.Context) {
	if now := e.now(); !e.settling.waits() {
		e.evaluate(ctx, now)
	}
}

// evaluate evaluates all rules and publishes a snapshot.
func (e *Evaluator) evaluate(ctx context.Context, now time.Time) {
	at := wallTime(now)
	e.core.evaluate(ctx, at)
	if ctx.Err() != nil {
		return // queries were canceled, so their results are void
	}
	s := e.core.snapshot(ctx, at, e.clock().Sub(now))
	s.At = now // with the monotonic reading: the stall guard is about real time
	e.publish(s)
}

func (e *Evaluator) publish(s *Snapshot) {
	if e.opts.Observe != nil {
		e.opts.Observe(s)
	}
	old := e.current.Swap(&published{s, make(chan struct{})})
	if old == nil {
		return
	}
	close(old.replaced)
}

// now returns the time. When the wall clock has stepped since the last call, it shifts
// the core first. When the process was stopped, collectors run before the next evaluation.
func (e *Evaluator) now() time.Time {
	now := settledTime(e.clock)
	if d := e.watch.step(now); d != 0 {
		e.stepped(now, d)
	}
	if since := e.waiting; !since.IsZero() {
		e.waiting = time.Time{}
		if d := now.Sub(since); d > e.core.maxAge() {
			e.resumed(now, d)
		}
	}
	return now
}
